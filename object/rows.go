package object

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// table says, for every built-in kind that needs it, what the API server adds to or
// rewrites in what we own as a whole: inside lists and maps that are replaced at
// once (atomic), and in the keys of list items. A default anywhere else is not ours
// to send, because sending a field claims it. The exceptions are unions, of which we
// send the whole choice once it is made: else what the server added to it would
// be left over when another choice is made.
var table = map[schema.GroupKind][]mount{
	{Kind: "Pod"}:                                                     {{"spec", podRows}},
	{Kind: "PodTemplate"}:                                             {{"template.spec", podRows}},
	{Kind: "ReplicationController"}:                                   {{"spec.template.spec", podRows}},
	{Group: "apps", Kind: "ReplicaSet"}:                               {{"spec.template.spec", podRows}},
	{Group: "apps", Kind: "Deployment"}:                               {{"spec.template.spec", podRows}, {"spec", deploymentRows}},
	{Group: "apps", Kind: "DaemonSet"}:                                {{"spec.template.spec", podRows}, {"spec", daemonSetRows}},
	{Group: "apps", Kind: "StatefulSet"}:                              {{"spec.template.spec", podRows}, {"spec", statefulSetRows}, {"spec.volumeClaimTemplates[]", claimRows}},
	{Group: "batch", Kind: "Job"}:                                     {{"spec.template.spec", podRows}, {"spec", jobRows}},
	{Group: "batch", Kind: "CronJob"}:                                 {{"spec.jobTemplate.spec.template.spec", podRows}, {"spec.jobTemplate.spec", jobRows}},
	{Kind: "Endpoints"}:                                               {{"", []row{{at: "subsets[].ports[]", fill: fields{"protocol": "TCP"}}}}},
	{Kind: "Service"}:                                                 {{"spec", serviceRows}},
	{Kind: "Secret"}:                                                  {{"", []row{{at: "data{}", scalar: encoded}}}},
	{Kind: "ConfigMap"}:                                               {{"", []row{{at: "binaryData{}", scalar: encoded}}}},
	{Kind: "PersistentVolumeClaim"}:                                   {{"", claimRows}},
	{Kind: "PersistentVolume"}:                                        {{"", []row{{at: "spec.capacity{}", scalar: amount}}}},
	{Kind: "ResourceQuota"}:                                           {{"", []row{{at: "spec.hard{}", scalar: amount}}}},
	{Kind: "LimitRange"}:                                              {{"spec", limitRangeRows}},
	{Group: rbac, Kind: "RoleBinding"}:                                {{"", bindingRows}},
	{Group: rbac, Kind: "ClusterRoleBinding"}:                         {{"", bindingRows}},
	{Group: network, Kind: "Ingress"}:                                 {{"spec.defaultBackend", backendRows}},
	{Group: network, Kind: "NetworkPolicy"}:                           {{"spec", networkPolicyRows}},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:                {{"", endpointSliceRows}},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:           {{"spec", autoscalerRows}},
	{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}:             {{"", []row{{at: "capacity", scalar: quantity}, {at: "maximumVolumeSize", scalar: quantity}}}},
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:                      {{"", []row{{at: "overhead.podFixed{}", scalar: amount}}}},
	{Group: admission, Kind: "ValidatingWebhookConfiguration"}:        {{"webhooks[]", webhookRows}},
	{Group: admission, Kind: "MutatingWebhookConfiguration"}:          {{"webhooks[]", webhookRows}},
	{Group: admission, Kind: "ValidatingAdmissionPolicy"}:             {{"spec.matchConstraints", matchRows}},
	{Group: admission, Kind: "ValidatingAdmissionPolicyBinding"}:      {{"spec.matchResources", matchRows}},
	{Group: admission, Kind: "MutatingAdmissionPolicy"}:               {{"spec.matchConstraints", matchRows}},
	{Group: admission, Kind: "MutatingAdmissionPolicyBinding"}:        {{"spec.matchResources", matchRows}},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: {{"", []row{{at: "spec.conversion.webhook.clientConfig.caBundle", scalar: encoded}}}},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:             {{"", []row{{at: "spec.caBundle", scalar: encoded}}}},
}

const (
	rbac      = "rbac.authorization.k8s.io"
	network   = "networking.k8s.io"
	admission = "admissionregistration.k8s.io"
)

var podRows = slices.Concat(
	under("containers[]", containerRows),
	under("initContainers[]", containerRows),
	under("ephemeralContainers[]", containerRows),
	under("volumes[].ephemeral.volumeClaimTemplate", claimRows),
	under("volumes[].downwardAPI.items[]", downwardRows),
	under("volumes[].projected.sources[].downwardAPI.items[]", downwardRows),
	[]row{
		{at: "volumes[]", keys: "name", bare: "name", fill: fields{"emptyDir": fields{}}},
		{at: "volumes[]", oneOf: "*"},
		{at: "volumes[].emptyDir.sizeLimit", scalar: quantity},
		{at: "volumes[].projected.sources[].serviceAccountToken", fill: fields{"expirationSeconds": int64(3600)}},
		{at: "volumes[].projected.sources[].podCertificate", fill: fields{"maxExpirationSeconds": int64(86400)}},
		{at: "imagePullSecrets[]", keys: "name"},
		{at: "hostAliases[]", keys: "ip"},
		{at: "topologySpreadConstraints[]", keys: "topologyKey,whenUnsatisfiable"},
		{at: "resourceClaims[]", keys: "name"},
		{at: "schedulingGates[]", keys: "name"},
		{at: "resources.limits{}", scalar: amount},
		{at: "resources.requests{}", scalar: amount},
		{at: "overhead{}", scalar: amount},
	},
)

var containerRows = slices.Concat(
	[]row{
		{keys: "name"},
		{at: "ports[]", keys: "containerPort,protocol", fill: fields{"protocol": "TCP"}},
		{at: "env[]", keys: "name"},
		{at: "env[]", oneOf: "value,valueFrom"},
		{at: "env[].valueFrom", oneOf: "*"},
		{at: "livenessProbe", oneOf: "exec,grpc,httpGet,tcpSocket"},
		{at: "readinessProbe", oneOf: "exec,grpc,httpGet,tcpSocket"},
		{at: "startupProbe", oneOf: "exec,grpc,httpGet,tcpSocket"},
		{at: "lifecycle.postStart", oneOf: "exec,httpGet,sleep,tcpSocket"},
		{at: "lifecycle.preStop", oneOf: "exec,httpGet,sleep,tcpSocket"},
		{at: "env[].valueFrom.fileKeyRef", fill: fields{"optional": false}},
		{at: "volumeMounts[]", keys: "mountPath"},
		{at: "volumeDevices[]", keys: "devicePath"},
		{at: "resources.claims[]", keys: "name"},
		{at: "resources.limits{}", scalar: amount},
		{at: "resources.requests{}", scalar: amount},
	},
	under("env[].valueFrom", downwardRows),
)

// downwardRows are for what tells a container about its pod.
var downwardRows = []row{
	{at: "fieldRef", fill: fields{"apiVersion": "v1"}},
	{at: "resourceFieldRef", fill: fields{"divisor": "0"}},
	{at: "resourceFieldRef.divisor", scalar: quantity},
}

var claimRows = []row{
	{at: "spec.resources.limits{}", scalar: amount},
	{at: "spec.resources.requests{}", scalar: amount},
}

var deploymentRows = []row{
	{at: "strategy", fill: fields{"type": "RollingUpdate"}},
	{at: "strategy", oneOf: "rollingUpdate"},
	{at: "strategy", when: "type=RollingUpdate", fill: fields{"rollingUpdate": fields{}}},
	{at: "strategy.rollingUpdate", fill: fields{"maxSurge": "25%", "maxUnavailable": "25%"}},
}

var daemonSetRows = []row{
	{at: "updateStrategy", fill: fields{"type": "RollingUpdate"}},
	{at: "updateStrategy", when: "type=RollingUpdate", fill: fields{"rollingUpdate": fields{}}},
	{at: "updateStrategy.rollingUpdate", fill: fields{"maxSurge": int64(0), "maxUnavailable": int64(1)}},
}

// statefulSetRows leave out maxUnavailable: before Kubernetes 1.37 a server does not
// store it, so that it could never be seen to be there.
var statefulSetRows = []row{
	{at: "updateStrategy", fill: fields{"type": "RollingUpdate"}},
	{at: "updateStrategy", oneOf: "rollingUpdate"},
	{at: "updateStrategy.rollingUpdate", fill: fields{"partition": int64(0)}},
	{at: "volumeClaimTemplates[]", fill: fields{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": fields{}}},
	{at: "volumeClaimTemplates[].spec", fill: fields{"volumeMode": "Filesystem"}},
	{at: "volumeClaimTemplates[].status", fill: fields{"phase": "Pending"}},
}

var jobRows = []row{
	{at: "podFailurePolicy.rules[].onPodConditions[]", fill: fields{"status": "True"}},
}

var serviceRows = []row{
	{at: "ports[]", keys: "port,protocol", fill: fields{"protocol": "TCP"}},
}

var limitRangeRows = []row{
	{at: "limits[]", when: "type=Container", inherit: [2]string{"default", "max"}},
	{at: "limits[]", when: "type=Container", inherit: [2]string{"defaultRequest", "default"}},
	{at: "limits[]", when: "type=Container", inherit: [2]string{"defaultRequest", "min"}},
	{at: "limits[].max{}", scalar: amount},
	{at: "limits[].min{}", scalar: amount},
	{at: "limits[].default{}", scalar: amount},
	{at: "limits[].defaultRequest{}", scalar: amount},
	{at: "limits[].maxLimitRequestRatio{}", scalar: amount},
}

var bindingRows = []row{
	{at: "roleRef", fill: fields{"apiGroup": rbac}},
	{at: "subjects[]", when: "kind=User|Group", fill: fields{"apiGroup": rbac}},
}

// backendRows are for the default backend; the other ones are in a list that is
// replaced as a whole.
var backendRows = []row{
	{oneOf: "resource,service"},
	{at: "service.port", oneOf: "name,number"},
}

var networkPolicyRows = []row{
	{at: "ingress[].ports[]", fill: fields{"protocol": "TCP"}},
	{at: "egress[].ports[]", fill: fields{"protocol": "TCP"}},
}

var endpointSliceRows = []row{
	{at: "ports[]", fill: fields{"name": "", "protocol": "TCP"}},
	{at: "endpoints[]", fill: fields{"conditions": fields{}}},
}

var autoscalerRows = []row{
	{at: "metrics[].resource.target.averageValue", scalar: quantity},
	{at: "metrics[].containerResource.target.averageValue", scalar: quantity},
	{at: "metrics[].pods.target.averageValue", scalar: quantity},
	{at: "metrics[].object.target.averageValue", scalar: quantity},
	{at: "metrics[].object.target.value", scalar: quantity},
	{at: "metrics[].external.target.averageValue", scalar: quantity},
	{at: "metrics[].external.target.value", scalar: quantity},
	{at: "behavior.scaleUp.tolerance", scalar: quantity},
	{at: "behavior.scaleDown.tolerance", scalar: quantity},
}

var webhookRows = []row{
	{keys: "name"},
	{at: "rules[]", fill: fields{"scope": "*"}},
	{at: "matchConditions[]", keys: "name"},
	{at: "clientConfig.caBundle", scalar: encoded},
	{at: "clientConfig", oneOf: "service,url"},
}

// matchRows are for what an admission policy is about.
var matchRows = []row{
	{fill: fields{"matchPolicy": "Equivalent", "namespaceSelector": fields{}, "objectSelector": fields{}}},
	{at: "resourceRules[]", fill: fields{"scope": "*"}},
	{at: "excludeResourceRules[]", fill: fields{"scope": "*"}},
}

// under returns rows for what is found under a path.
func under(path string, rows []row) []row {
	out := slices.Clone(rows)
	for i := range out {
		out[i].at = strings.TrimSuffix(path+"."+out[i].at, ".")
	}
	return out
}
