package kind_test

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clusterScoped are the kinds of samples that have no namespace.
var clusterScoped = map[string]bool{
	"ClusterRole": true, "ClusterRoleBinding": true, "PersistentVolume": true, "StorageClass": true, "PriorityClass": true,
	"IngressClass": true, "RuntimeClass": true, "CSIDriver": true, "CustomResourceDefinition": true,
}

// overrides are values for leaves, by the end of their path, where those of the type
// will not do.
var overrides = map[string][]any{
	"valueFrom.fileKeyRef":                         {tree{"volumeName": "scratch", "path": "p", "key": "K"}},
	"fileKeyRef.volumeName":                        {"other"},
	"valueFrom.configMapKeyRef":                    {tree{"name": "c", "key": "k"}},
	"valueFrom.secretKeyRef":                       {tree{"name": "c", "key": "k"}},
	"resourceFieldRef":                             {tree{"resource": "limits.cpu", "containerName": "main"}},
	"resourceFieldRef.resource":                    {"requests.cpu"},
	"resourceFieldRef.containerName":               {"setup"},
	"fieldRef":                                     {tree{"fieldPath": "metadata.name"}},
	"fieldRef.fieldPath":                           {"metadata.namespace"},
	"fieldRef.apiVersion":                          {"v1"},
	"downwardAPI.items":                            {[]any{tree{"path": "p", "fieldRef": tree{"fieldPath": "metadata.name"}}}},
	"matchFields":                                  {[]any{tree{"key": "metadata.name", "operator": "In", "values": []any{"a"}}}},
	"resizePolicy":                                 {[]any{tree{"resourceName": "cpu", "restartPolicy": "NotRequired"}}},
	"resizePolicy[].resourceName":                  {"memory"},
	"resizePolicy[].restartPolicy":                 {"RestartContainer"},
	"restartPolicyRules":                           {[]any{tree{"action": "Restart", "exitCodes": tree{"operator": "In", "values": []any{int64(1)}}}}},
	"restartPolicyRules[].action":                  {"RestartAllContainers"},
	"exitCodes.operator":                           {"NotIn"},
	"resources.limits":                             {tree{"cpu": "2"}, tree{"memory": "1Gi"}, tree{"storage": "10Gi"}},
	"resources.requests":                           {tree{"cpu": "600m"}, tree{"storage": "2Gi"}},
	"spec.capacity":                                {tree{"storage": "2Gi"}},
	"os.name":                                      {"linux"},
	"priorityClassName":                            {"system-node-critical"},
	"seLinuxChangePolicy":                          {"Recursive"},
	"containerResource.name":                       {"memory"},
	"metrics[].containerResource":                  {tree{"name": "cpu", "container": "main", "target": tree{"type": "AverageValue", "averageValue": "5"}}},
	"onExitCodes.containerName":                    {"main"},
	"conversion.webhook":                           {tree{"conversionReviewVersions": []any{"v1"}, "clientConfig": tree{"url": "https://a.example.com"}}},
	"options[].value":                              {"2"},
	"dnsConfig.options":                            {[]any{tree{"name": "ndots", "value": "3"}}},
	"cinder.secretRef":                             {tree{"name": "a", "namespace": "b"}},
	"volumes[].cinder.secretRef":                   {tree{"name": "a"}},
	"resourceClaims":                               {[]any{tree{"name": "a", "resourceClaimName": "b"}}},
	"overhead":                                     {tree{"cpu": "1m"}},
	"overhead.podFixed":                            {tree{"memory": "1Mi"}},
	"tolerations":                                  {[]any{tree{"key": "a", "operator": "Exists"}}},
	"spec.resources.requests":                      {tree{"storage": "2Gi"}, tree{"cpu": "600m"}},
	"spec.scope":                                   {"Cluster"},
	"names.singular":                               {"sweeping"},
	"additionalPrinterColumns[].format":            {"date"},
	"openAPIV3Schema.default":                      {tree{}},
	"x-kubernetes-map-type":                        {"atomic"},
	"x-kubernetes-validations":                     {[]any{tree{"rule": "true"}}},
	"x-kubernetes-validations[].rule":              {"1 == 1"},
	"x-kubernetes-validations[].messageExpression": {"'a'"},
	"x-kubernetes-validations[].reason":            {"FieldValueForbidden"},
	"x-kubernetes-validations[].fieldPath":         {".spec"},
	"selectableFields[].jsonPath":                  {".spec.a"},
	"subresources.scale":                           {tree{"specReplicasPath": ".spec.r", "statusReplicasPath": ".status.r"}},
	"scale.specReplicasPath":                       {".spec.q"},
	"scale.statusReplicasPath":                     {".status.q"},
	"scale.labelSelectorPath":                      {".status.s"},
	"policies[].type":                              {"Percent"},
	"selectPolicy":                                 {"Min"},
	"parameters.scope":                             {"Namespace"},
	"fsGroupPolicy":                                {"None"},
	"volumeLifecycleModes":                         {[]any{"Ephemeral"}},
	"whenDeleted":                                  {"Delete"},
	"whenScaled":                                   {"Delete"},
	"volumeDevices":                                {[]any{tree{"name": "block", "devicePath": "/d"}}},
	"volumeDevices[].name":                         {"block"},
	"conversion":                                   {tree{"strategy": "Webhook", "webhook": tree{"conversionReviewVersions": []any{"v1"}, "clientConfig": tree{"url": "https://a.example.com"}}}},
	"additionalPrinterColumns":                     {[]any{tree{"name": "a", "type": "string", "jsonPath": ".spec.a"}}},
	"additionalPrinterColumns[].type":              {"integer"},
	"additionalPrinterColumns[].jsonPath":          {".spec.b"},
	"clientConfig.url":                             {"https://b.example.com"},
	"clientConfig.service":                         {tree{"name": "a", "namespace": "b"}},
	"conversionReviewVersions":                     {[]any{"v1", "v1beta1"}},
	"names.listKind":                               {"SweepingList"},
	"trafficDistribution":                          {"PreferSameZone"},
	"loadBalancerSourceRanges":                     {[]any{"10.0.0.0/8"}},
	"subjects[].kind":                              {"User"},
	"subjects[].apiGroup":                          {"rbac.authorization.k8s.io"},
	"roleRef.kind":                                 {"ClusterRole", "Role"},
	"spec.clusterIP":                               {"10.0.0.77", "None"},
	"spec.clusterIPs":                              {[]any{"10.0.0.77"}, []any{"None"}},
	"initContainers":                               {[]any{tree{"name": "setup", "image": "app:1", "restartPolicy": "Always"}}},
	"volumeClaimTemplate.spec":                     {tree{"accessModes": []any{"ReadWriteOnce"}, "resources": tree{"requests": tree{"storage": "1Gi"}}}},
	"accessModes":                                  {[]any{"ReadWriteMany"}},
	"spec.selector.matchLabels":                    {tree{"tier": "a"}},
	"matchExpressions[].key":                       {"app", "tier"},
	"matchExpressions[].operator":                  {"Exists", "In"},
	"matchExpressions[].values":                    {[]any{"x", "y"}},
	"matchFields[].key":                            {"metadata.name"},
	"matchFields[].operator":                       {"In", "NotIn"},
	"matchFields[].values":                         {[]any{"a"}, []any{"b"}},
	"signerName":                                   {"example.com/signer", "example.com/other"},
	"sources[].podCertificate":                     {tree{"signerName": "example.com/signer", "keyType": "ED25519", "credentialBundlePath": "bundle"}},
	"podCertificate.keyType":                       {"ECDSAP256"},
	"sources[].clusterTrustBundle":                 {tree{"signerName": "example.com/signer", "path": "p", "labelSelector": tree{}}},
	"sources[].configMap":                          {tree{"name": "c"}},
	"sources[].secret":                             {tree{"name": "s"}},
	"volumes[].configMap":                          {tree{"name": "c"}},
	"volumes[].secret":                             {tree{"secretName": "s"}},
	"iscsi":                                        {tree{"iqn": "iqn.2001-04.com.example:a", "lun": int64(1), "targetPortal": "10.0.0.1:3260"}},
	"iscsi.iqn":                                    {"iqn.2001-04.com.example:b"},
	"volumes[].scaleIO":                            {tree{"gateway": "g", "secretRef": tree{"name": "a"}, "system": "s", "volumeName": "v"}},
	"spec.scaleIO":                                 {tree{"gateway": "g", "secretRef": tree{"name": "a", "namespace": "b"}, "system": "s", "volumeName": "v"}},
	"azureDisk":                                    {tree{"diskName": "a", "diskURI": "https://a"}},
	"azureDisk.diskURI":                            {"https://b"},
	"quobyte":                                      {tree{"registry": "a:1", "volume": "v"}},
	"quobyte.registry":                             {"b:1"},
	"storageos":                                    {tree{"volumeName": "v", "volumeNamespace": "n"}},
	"spec.storageos.secretRef":                     {tree{"name": "a", "namespace": "b"}},
	"fc":                                           {tree{"targetWWNs": []any{"a"}, "lun": int64(1)}},
	"fc.wwids":                                     {[]any{"a"}},
	"volumes[].nfs":                                {tree{"server": "s", "path": "/x"}},
	"spec.nfs":                                     {tree{"server": "s", "path": "/x"}},
	"controllerExpandSecretRef":                    {tree{"name": "a", "namespace": "b"}},
	"controllerPublishSecretRef":                   {tree{"name": "a", "namespace": "b"}},
	"nodeExpandSecretRef":                          {tree{"name": "a", "namespace": "b"}},
	"nodeStageSecretRef":                           {tree{"name": "a", "namespace": "b"}},
	"csi.nodePublishSecretRef":                     {tree{"name": "a", "namespace": "b"}},
	"volumes[].csi.nodePublishSecretRef":           {tree{"name": "a"}},
	"livenessProbe":                                {tree{"exec": tree{"command": []any{"a"}}}},
	"readinessProbe":                               {tree{"exec": tree{"command": []any{"a"}}}},
	"startupProbe":                                 {tree{"exec": tree{"command": []any{"a"}}}},
	"lifecycle.postStart":                          {tree{"exec": tree{"command": []any{"a"}}}},
	"lifecycle.preStop":                            {tree{"exec": tree{"command": []any{"a"}}}},
	"volumeMounts[].name":                          {"other"},
	"spec.dataSource":                              {tree{"kind": "PersistentVolumeClaim", "name": "a"}},
	"dataSource.kind":                              {"PersistentVolumeClaim"},
	"dataSourceRef.kind":                           {"PersistentVolumeClaim"},
	"spec.dataSourceRef":                           {tree{"kind": "PersistentVolumeClaim", "name": "a"}},
	"target":                                       {tree{"type": "AverageValue", "averageValue": "5"}},
	"behavior.scaleUp.policies":                    {[]any{tree{"type": "Pods", "value": int64(1), "periodSeconds": int64(5)}}},
	"behavior.scaleDown.policies":                  {[]any{tree{"type": "Pods", "value": int64(1), "periodSeconds": int64(5)}}},
	"ipBlock":                                      {tree{"cidr": "10.0.0.0/8"}},
	"ipBlock.cidr":                                 {"10.0.0.0/8"},
	"ipBlock.except":                               {[]any{"10.1.0.0/16"}},
	"endPort":                                      {int64(9000)},
}

type tree = map[string]any

// unswept are fields without another value, whatever the schema says.
var unswept = []string{
	"ephemeralContainers", // set in a subresource only
	"roleRef.apiGroup",    // has one value
}

// overridden returns the values of the longest entry for a path.
func overridden(path []string) []any {
	at := pattern(path)
	for i := range len(at) {
		if i == 0 || at[i-1] == '.' {
			if values, ok := overrides[at[i:]]; ok {
				return values
			}
		}
	}
	return nil
}

// unions are nodes of which one member is chosen, by the end of their path: the
// members, or all but the fields after a minus.
var unions = map[string]string{
	"volumes[]":      "-name",
	"sources[]":      "-",
	"valueFrom":      "-",
	"livenessProbe":  "exec,grpc,httpGet,tcpSocket",
	"readinessProbe": "exec,grpc,httpGet,tcpSocket",
	"startupProbe":   "exec,grpc,httpGet,tcpSocket",
	"postStart":      "-",
	"preStop":        "-",
	"backend":        "-",
	"defaultBackend": "-",
	"service.port":   "-",
	"metrics[]":      "containerResource,external,object,pods,resource",
	"from[]":         "-",
	"envFrom[]":      "configMapRef,secretRef",
	"to[]":           "-",
	"spec":           volumeSources,
}

const volumeSources = "awsElasticBlockStore,azureDisk,azureFile,cephfs,cinder,csi,fc,flexVolume,flocker,gcePersistentDisk," +
	"glusterfs,hostPath,iscsi,local,nfs,photonPersistentDisk,portworxVolume,quobyte,rbd,scaleIO,storageos,vsphereVolume"

// together is what else has to be so for a field to be there.
var together = map[string]map[string]any{
	"versions[].deprecationWarning":              {"deprecated": true},
	"spec.maxUnavailable":                        {"minAvailable": nil},
	"parameters.namespace":                       {"scope": "Namespace"},
	"parameters.scope":                           {"namespace": "a"},
	"env[].valueFrom":                            {"value": nil},
	"restartPolicyRules":                         {"restartPolicy": "Never"},
	"items[].resourceFieldRef":                   {"fieldRef": nil},
	"clientConfig.service":                       {"url": nil},
	"subjects[].kind":                            {"apiGroup": "rbac.authorization.k8s.io", "namespace": nil},
	"subjects[].apiGroup":                        {"kind": "User", "namespace": nil},
	"spec.clusterIP":                             {"clusterIPs": nil},
	"spec.clusterIPs":                            {"clusterIP": "10.0.0.77"},
	"conversion.webhook":                         {"strategy": "Webhook"},
	"fc.wwids":                                   {"targetWWNs": nil, "lun": nil},
	"resourceClaims[].resourceClaimTemplateName": {"resourceClaimName": nil},
	"strategy.type":                              {"rollingUpdate": nil},
	"updateStrategy.type":                        {"rollingUpdate": nil},
	"matchExpressions[].values":                  {"operator": "In"},
	"clusterTrustBundle.name":                    {"signerName": nil, "labelSelector": nil},
	"metrics[].containerResource":                {"type": "ContainerResource"},
	"metrics[].external":                         {"type": "External"},
	"metrics[].object":                           {"type": "Object"},
	"metrics[].pods":                             {"type": "Pods"},
	"target.value":                               {"type": "Value", "averageValue": nil, "averageUtilization": nil},
	"target.averageValue":                        {"type": "AverageValue", "value": nil, "averageUtilization": nil},
	"target.averageUtilization":                  {"type": "Utilization", "value": nil, "averageValue": nil},
	"spec.sessionAffinityConfig":                 {"sessionAffinity": "ClientIP"},
	"rules[].nonResourceURLs":                    {"resources": nil, "apiGroups": nil},
	"dataSource.apiGroup":                        {"kind": "VolumeSnapshot"},
	"dataSourceRef.apiGroup":                     {"kind": "VolumeSnapshot"},
}

// partly are samples of which those parts of a pod are left out that are swept in a
// Deployment, a Job and a Pod, because the server treats them alike.
var partly = []string{"job-indexed", "job-suspended", "job-manual", "pod-gated", "replicaset", "daemonset", "statefulset", "cronjob"}

// elsewhere are these parts of a pod.
var elsewhere = []string{".volumes[]", ".initContainers[]", "ffinity.", "Probe.", "lifecycle.", ".volumeMounts[]", ".volumeDevices[]", "fileKeyRef.", "resources.claims[]"}

// excused are leaves that are immutable for a reason that is in no field we know of.
var excused = map[string]bool{
	"CustomResourceDefinition spec.versions[].name":                          true, // of a version that objects are stored in
	"CustomResourceDefinition spec.conversion.webhook.clientConfig.caBundle": true, // that cannot be read, which is taken from a new one only
}

// companions changes a node so that the field at the end of a path may be in it.
func companions(m map[string]any, path []string) {
	field := path[len(path)-1]
	parent := pattern(path[:len(path)-1])
	for at, members := range unions {
		if parent != at && !strings.HasSuffix(parent, "."+at) {
			continue
		}
		kept, allBut := strings.CutPrefix(members, "-")
		listed := strings.Split(kept, ",")
		if slices.Contains(listed, field) == allBut {
			continue
		}
		for other := range m {
			if other != field && slices.Contains(listed, other) != allBut {
				delete(m, other)
			}
		}
	}
	at := pattern(path)
	for end, others := range together {
		if at != end && !strings.HasSuffix(at, "."+end) {
			continue
		}
		for name, value := range others {
			if value == nil {
				delete(m, name)
			} else {
				m[name] = value
			}
		}
	}
}

// rename makes a new object of a copy of a live one.
func rename(u *unstructured.Unstructured) {
	if name, _, _ := unstructured.NestedString(u.Object, "spec", "names", "plural"); u.GetName() == name+".sweep.example.com" {
		_ = unstructured.SetNestedField(u.Object, "more"+name, "spec", "names", "plural")
		u.SetName("more" + u.GetName())
		return
	}
	u.SetName(u.GetName() + "-fresh")
}
