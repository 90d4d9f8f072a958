// Package object answers: which object, under what name, in what canonical form?
//
//	*appsv1.Deployment ──KeyOf──▶ apps/v1/Deployment/shop/web   its identity
//	                   ──Tree───▶ map[string]any                what server-side apply sends
//	"shop", "web", …   ──Name───▶ shop-web                      a name that always fits
//
// Everything here is pure: no function changes its arguments, and none of them
// needs a cluster, a clock or a random number. What is special about a kind is in
// package kind; all that this package knows is that a Secret stores its stringData
// as data.
package object
