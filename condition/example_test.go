package condition_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
)

func ExampleAggregate() {
	conditions := []metav1.Condition{
		{Type: "BackupsReady", Status: metav1.ConditionFalse, Reason: "Blocked", Message: `waiting for Secret "s3"`},
		{Type: "ProxyReady", Status: metav1.ConditionTrue, Reason: "Healthy"},
		{Type: "ServerReady", Status: metav1.ConditionFalse, Reason: "Updating", Message: "2 of 3 pods updated"},
	}
	c := condition.Aggregate("Ready", 0, conditions,
		condition.Part{Name: "Server", Condition: "ServerReady"},
		condition.Part{Name: "Proxy", Condition: "ProxyReady"},
		condition.Part{Name: "Backups", Condition: "BackupsReady"},
	)
	fmt.Println(c.Status, c.Reason)
	fmt.Println(c.Message)
	// Output:
	// False Blocked
	// 1 of 3 ready; Server: 2 of 3 pods updated; Backups: waiting for Secret "s3"
}

func ExampleSet() {
	noon := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	later := metav1.NewTime(noon.Add(time.Hour))
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: string(condition.Healthy)}

	var conditions []metav1.Condition
	fmt.Println(condition.Set(&conditions, ready, noon))
	fmt.Println(condition.Set(&conditions, ready, later))
	fmt.Println(conditions[0].LastTransitionTime.UTC().Format(time.TimeOnly))
	// Output:
	// true
	// false
	// 12:00:00
}

func ExampleReason_Ready() {
	fmt.Println(condition.Healthy.Ready(), condition.Suspended.Ready(), condition.Reason("SomebodyElses").Ready())
	// Output: true false false
}
