// Package webapp is the tutorial: what should exist for one [v1alpha1.WebApp].
//
//	backend    Service (headless), StatefulSet with a claim     BackendReady
//	frontend   Service, Deployment, metrics exporter            FrontendReady, after the backend
//
// [Components] is the whole operator. Everything else, from status to drift
// correction, is the library's.
package webapp
