package operator

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/armature-go/armature/component"
)

// collectors are the metrics of all controllers of the process. Their names and
// labels are API.
type collectors struct {
	changes   *prometheus.CounterVec
	condition *prometheus.GaugeVec
	duration  *prometheus.HistogramVec
}

func newCollectors() collectors {
	return collectors{
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "armature_changes_total",
			Help: "Writes to objects, by what was done; an apply that changes nothing is not counted.",
		}, []string{"controller", "owner_kind", "kind", "action"}),
		condition: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "armature_condition",
			Help: "Conditions of custom resources: 1 is True, 0 is False.",
		}, []string{"controller", "owner_kind", "namespace", "name", "condition"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "armature_component_duration_seconds",
			Help:    "Time that one pass takes for one component.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"controller", "owner_kind", "component"}),
	}
}

// shared registers the collectors in controller-runtime's registry, once.
var shared = sync.OnceValue(func() collectors {
	c := newCollectors()
	metrics.Registry.MustRegister(c.changes, c.condition, c.duration)
	return c
})

// controllerMetrics are the metrics of one controller.
type controllerMetrics struct {
	collectors

	controller string
	kind       string
}

func metricsFor(controller, kind string) *controllerMetrics {
	return &controllerMetrics{collectors: shared(), controller: controller, kind: kind}
}

func (m *controllerMetrics) changed(c component.Change) {
	m.changes.WithLabelValues(m.controller, m.kind, c.Key.GVK.Kind, string(c.Op)).Inc()
}

func (m *controllerMetrics) took(name string, d time.Duration) {
	m.duration.WithLabelValues(m.controller, m.kind, name).Observe(d.Seconds())
}

func (m *controllerMetrics) condition(owner component.Owner, c metav1.Condition) {
	value := 0.0
	if c.Status == metav1.ConditionTrue {
		value = 1
	}
	m.collectors.condition.WithLabelValues(m.controller, m.kind, owner.GetNamespace(), owner.GetName(), c.Type).Set(value)
}

// forget drops the series of an owner that is gone.
func (m *controllerMetrics) forget(owner types.NamespacedName) {
	m.collectors.condition.DeletePartialMatch(prometheus.Labels{
		"controller": m.controller, "owner_kind": m.kind, "namespace": owner.Namespace, "name": owner.Name,
	})
}
