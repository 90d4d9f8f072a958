package crdtest

import (
	"testing"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	cnpgv1 "github.com/cloudnative-pg/api/pkg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/condition"
)

const (
	yes   = metav1.ConditionTrue
	no    = metav1.ConditionFalse
	maybe = metav1.ConditionUnknown
)

func TestCertificate(t *testing.T) {
	c := install(t)
	crt := &cmv1.Certificate{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: armaturetest.Server(t).Namespace(t)},
		Spec:       cmv1.CertificateSpec{SecretName: "web", DNSNames: []string{"web.example"}, IssuerRef: cmmeta.IssuerReference{Name: "ca"}},
	}
	says := func(all ...metav1.Condition) {
		crt.Status.Conditions = nil
		for _, s := range all {
			crt.Status.Conditions = append(crt.Status.Conditions, cmv1.CertificateCondition{
				Type: cmv1.CertificateConditionType(s.Type), Status: cmmeta.ConditionStatus(s.Status), Reason: s.Reason, Message: s.Message, ObservedGeneration: s.ObservedGeneration,
			})
		}
	}
	const ready, issuing = cmv1.CertificateConditionReady, cmv1.CertificateConditionIssuing
	failed := func(is metav1.ConditionStatus) func() {
		return func() {
			says(said(crt, ready, is, "DoesNotExist", "the certificate is or is not there"), said(crt, issuing, no, "Failed", "the certificate request has failed"))
			crt.Status.LastFailureTime, crt.Status.FailedIssuanceAttempts = new(metav1.Now()), new(1)
		}
	}
	play(t, c, crt, []stage{
		{"created", nil, nil, condition.OperationPending, condition.Degraded},
		{"issuing", nil, func() {
			says(said(crt, ready, no, "DoesNotExist", "there is no Secret"), said(crt, issuing, yes, "DoesNotExist", "issuing"))
		}, condition.OperationPending, condition.Degraded},
		{"issued", nil, func() { says(said(crt, ready, yes, "Ready", "up to date")) }, condition.Operational, condition.Healthy},
		{"renewing", nil, func() { says(said(crt, ready, yes, "Ready", "up to date"), said(crt, issuing, yes, "Renewing", "")) }, condition.Operational, condition.Healthy},
		{"the renewal fails", nil, failed(yes), condition.Operational, condition.Healthy},
		{"it fails", nil, failed(no), condition.OperationFailing, condition.Down},
		{"it is tried again", nil, func() { says(said(crt, ready, no, "DoesNotExist", ""), said(crt, issuing, yes, "", "")) }, condition.OperationPending, condition.Degraded},
		{"it works", nil, func() { says(said(crt, ready, yes, "Ready", "")); crt.Status.LastFailureTime = nil }, condition.Operational, condition.Healthy},
		{"another name is asked for", func() { crt.Spec.DNSNames = []string{"shop.example"} }, nil, condition.OperationPending, condition.Degraded},
	})
}

func TestIssuers(t *testing.T) {
	c := install(t)
	issuer := &cmv1.Issuer{ObjectMeta: metav1.ObjectMeta{Name: "ca", Namespace: armaturetest.Server(t).Namespace(t)}}
	global := &cmv1.ClusterIssuer{ObjectMeta: metav1.ObjectMeta{Name: "ca"}}
	for _, of := range []struct {
		obj    client.Object
		spec   *cmv1.IssuerSpec
		status *cmv1.IssuerStatus
	}{{issuer, &issuer.Spec, &issuer.Status}, {global, &global.Spec, &global.Status}} {
		says := func(status cmmeta.ConditionStatus, reason string) func() {
			return func() {
				of.status.Conditions = []cmv1.IssuerCondition{{Type: cmv1.IssuerConditionReady, Status: status, Reason: reason, Message: reason, ObservedGeneration: of.obj.GetGeneration()}}
			}
		}
		of.spec.CA = &cmv1.CAIssuer{SecretName: "ca"}
		play(t, c, of.obj, []stage{
			{"created", nil, nil, condition.OperationPending, condition.Degraded},
			{"set up", nil, says(cmmeta.ConditionTrue, "KeyPairVerified"), condition.Operational, condition.Healthy},
			{"its Secret goes", nil, says(cmmeta.ConditionFalse, "ErrGetKeyPair"), condition.OperationFailing, condition.Down},
			{"another Secret is named", func() { of.spec.CA.SecretName = "other" }, nil, condition.OperationPending, condition.Degraded},
			{"it is looked at", nil, says(cmmeta.ConditionTrue, "KeyPairVerified"), condition.Operational, condition.Healthy},
		})
	}
}

func TestGateway(t *testing.T) {
	c := install(t)
	gw := &gatewayv1.Gateway{
		ObjectMeta: metav1.ObjectMeta{Name: "front", Namespace: armaturetest.Server(t).Namespace(t)},
		Spec: gatewayv1.GatewaySpec{
			GatewayClassName: "any",
			Listeners:        []gatewayv1.Listener{{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType}},
		},
	}
	const accepted, programmed = gatewayv1.GatewayConditionAccepted, gatewayv1.GatewayConditionProgrammed
	says := func(all ...metav1.Condition) { gw.Status.Conditions = all }
	play(t, c, gw, []stage{
		{"created", nil, nil, condition.OperationPending, condition.Degraded},
		{"accepted", nil, func() {
			says(said(gw, accepted, yes, "Accepted", ""), said(gw, programmed, no, string(gatewayv1.GatewayReasonAddressNotAssigned), "no address yet"))
		}, condition.OperationPending, condition.Degraded},
		{"programmed", nil, func() {
			says(said(gw, accepted, yes, "Accepted", ""), said(gw, programmed, yes, "Programmed", ""))
			gw.Status.Addresses = []gatewayv1.GatewayStatusAddress{{Type: new(gatewayv1.IPAddressType), Value: "192.0.2.1"}}
		}, condition.Operational, condition.Healthy},
		{"no address can be had", nil, func() {
			says(said(gw, accepted, yes, "Accepted", ""), said(gw, programmed, no, string(gatewayv1.GatewayReasonAddressNotUsable), "taken"))
		}, condition.OperationFailing, condition.Down},
		{"not accepted", nil, func() {
			says(said(gw, accepted, no, string(gatewayv1.GatewayReasonInvalidParameters), ""), said(gw, programmed, maybe, "Pending", ""))
		}, condition.OperationFailing, condition.Down},
		{"mended", nil, func() {
			says(said(gw, accepted, yes, "Accepted", ""), said(gw, programmed, yes, "Programmed", ""))
		}, condition.Operational, condition.Healthy},
		{"another port is asked for", func() { gw.Spec.Listeners[0].Port = 8080 }, nil, condition.OperationPending, condition.Degraded},
	})
}

func TestRoutes(t *testing.T) {
	c := install(t)
	home := metav1.ObjectMeta{Name: "web", Namespace: armaturetest.Server(t).Namespace(t)}
	refs := gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{{Name: "front"}, {Name: "back"}}}
	http := &gatewayv1.HTTPRoute{ObjectMeta: home, Spec: gatewayv1.HTTPRouteSpec{CommonRouteSpec: refs}}
	grpc := &gatewayv1.GRPCRoute{ObjectMeta: home, Spec: gatewayv1.GRPCRouteSpec{CommonRouteSpec: *refs.DeepCopy()}}
	const accepted, resolved = gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs
	for _, of := range []struct {
		obj    client.Object
		spec   *[]gatewayv1.Hostname
		status *gatewayv1.RouteStatus
	}{{http, &http.Spec.Hostnames, &http.Status.RouteStatus}, {grpc, &grpc.Spec.Hostnames, &grpc.Status.RouteStatus}} {
		parent := func(name string, all ...metav1.Condition) gatewayv1.RouteParentStatus {
			return gatewayv1.RouteParentStatus{
				ParentRef: gatewayv1.ParentReference{Name: gatewayv1.ObjectName(name)}, ControllerName: "example.org/controller", Conditions: all,
			}
		}
		good := func() []metav1.Condition {
			return []metav1.Condition{said(of.obj, accepted, yes, "Accepted", ""), said(of.obj, resolved, yes, "ResolvedRefs", "")}
		}
		says := func(front, back func() []metav1.Condition) func() {
			return func() {
				of.status.Parents = []gatewayv1.RouteParentStatus{parent("front", front()...)}
				if back != nil {
					of.status.Parents = append(of.status.Parents, parent("back", back()...))
				}
			}
		}
		play(t, c, of.obj, []stage{
			{"created", nil, nil, condition.OperationPending, condition.Degraded},
			{"one parent has it", nil, says(good, nil), condition.OperationPending, condition.Degraded},
			{"both have it", nil, says(good, good), condition.Operational, condition.Healthy},
			{"one refuses it", nil, says(good, func() []metav1.Condition {
				return []metav1.Condition{said(of.obj, accepted, no, string(gatewayv1.RouteReasonNotAllowedByListeners), "not from here")}
			}), condition.OperationFailing, condition.Degraded},
			{"a backend goes", nil, says(func() []metav1.Condition {
				return []metav1.Condition{said(of.obj, accepted, yes, "Accepted", ""), said(of.obj, resolved, no, string(gatewayv1.RouteReasonBackendNotFound), "no Service web")}
			}, good), condition.OperationFailing, condition.Degraded},
			{"it comes back", nil, says(good, good), condition.Operational, condition.Healthy},
			{"another host is asked for", func() { *of.spec = []gatewayv1.Hostname{"web.example"} }, nil, condition.OperationPending, condition.Degraded},
		})
	}
}

func TestPostgresCluster(t *testing.T) {
	c := install(t)
	db := &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: armaturetest.Server(t).Namespace(t)},
		Spec:       cnpgv1.ClusterSpec{Instances: 3, StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1Gi"}},
	}
	is := func(phase, reason string, ready int, status metav1.ConditionStatus) func() {
		return func() {
			db.Status.Phase, db.Status.PhaseReason = phase, reason
			db.Status.Instances, db.Status.ReadyInstances = 3, ready
			db.Status.Conditions = []metav1.Condition{said(db, cnpgv1.ConditionClusterReady, status, "", "")}
			db.Status.Conditions[0].ObservedGeneration = 0 // it does not tell
		}
	}
	play(t, c, db, []stage{
		{"created", nil, nil, condition.Creating, condition.Down},
		{"its primary comes up", nil, is(cnpgv1.PhaseFirstPrimary, "", 0, no), condition.Scaling, condition.Down},
		{"its replicas come up", nil, is(cnpgv1.PhaseCreatingReplica, "", 2, no), condition.Scaling, condition.Degraded},
		{"all are there", nil, is(cnpgv1.PhaseHealthy, "", 3, yes), condition.Healthy, condition.Healthy},
		{"it switches over", nil, is(cnpgv1.PhaseSwitchover, "", 3, no), condition.Updating, condition.Degraded},
		{"all are there again", nil, is(cnpgv1.PhaseHealthy, "", 3, yes), condition.Healthy, condition.Healthy},
		{"a fourth is asked for", func() { db.Spec.Instances = 4 }, nil, condition.Scaling, condition.Degraded},
	})
	for _, phase := range []string{
		cnpgv1.PhaseUnknownPlugin, cnpgv1.PhaseFailurePlugin, cnpgv1.PhaseImageCatalogError, cnpgv1.PhaseUnrecoverable,
		cnpgv1.PhaseArchitectureBinaryMissing, cnpgv1.PhaseCannotCreateClusterObjects, cnpgv1.PhaseDefinitionInvalid,
	} {
		stuck := &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{GenerateName: "stuck-", Namespace: db.Namespace}, Spec: db.Spec}
		play(t, c, stuck, []stage{{phase, nil, func() { stuck.Status.Phase = phase }, condition.Failing, condition.Down}})
	}
}
