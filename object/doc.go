// Package object answers: which object, under what name, in what canonical form?
//
//	*appsv1.Deployment ──KeyOf──▶ apps/v1/Deployment/shop/web   its identity
//	                   ──Tree───▶ map[string]any                what server-side apply sends
//	"shop", "web", …   ──Name───▶ shop-web                      a name that always fits
//
// Everything here is pure: no function changes its arguments, and none of them
// needs a cluster, a clock or a random number. How kinds behave is in package kind;
// what this package knows of them is how the API server stores what is sent: a
// table of the defaults, spellings and keys of built-in kinds (rows.go).
package object
