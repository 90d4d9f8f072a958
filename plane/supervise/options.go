package supervise

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Options say what plane to run. Dir is required; the rest may be zero.
type Options struct {
	Dir          string // where everything is kept; made if missing
	Port         int    // 0 means the port of last time, at first a free one
	Nodes        int    // 0 means none
	Scheduler    Scheduler
	Audit        bool // log requests of everybody but the plane's own components
	Proxy        bool // run the fault proxy
	LoadBalancer bool // give addresses to Services of type LoadBalancer
	HPA          bool // simulate the metrics of HorizontalPodAutoscalers
	Pace         Pace
}

// Scheduler says who places pods.
type Scheduler int

const (
	// RealScheduler runs kube-scheduler.
	RealScheduler Scheduler = iota
	// NoScheduler leaves it to the agent, which knows little about it.
	NoScheduler
)

// Pace says what etcd is tuned for.
type Pace int

const (
	// Quick starts as fast as possible.
	Quick Pace = iota
	// Calm uses less CPU at rest.
	Calm
)

// Names of the components.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	KubeScheduler     = "kube-scheduler"
	Agent             = "agent"
)

// controllers of kube-controller-manager. Left out are those that the agent
// runs faster (garbage collection, namespaces), those that need real nodes or
// clouds, and certificate signing.
var controllers = []string{
	"serviceaccount-token-controller", "serviceaccount-controller", "root-ca-certificate-publisher-controller",
	"endpointslice-controller",
	"replicationcontroller-controller", "pod-garbage-collector-controller",
	"resourcequota-controller", "daemonset-controller", "job-controller", "cronjob-controller", "deployment-controller",
	"replicaset-controller", "statefulset-controller", "disruption-controller", "persistentvolume-binder-controller",
	"persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller", "ephemeral-volume-controller",
	"clusterrole-aggregation-controller", "ttl-after-finished-controller",
}

// command is a component and its arguments.
type command struct {
	name string
	args []string
}

// first are the components that everything else needs, then the others.
func first(o Options, l layout, port int) []command {
	return []command{{Etcd, etcdArgs(o, l)}, {APIServer, apiServerArgs(o, l, port)}}
}

func others(o Options, l layout) []command {
	cmds := []command{{ControllerManager, controllerManagerArgs(l)}, {Agent, agentArgs(o, l)}}
	if o.Scheduler == RealScheduler {
		cmds = append(cmds, command{KubeScheduler, []string{
			"--kubeconfig=" + l.kubeconfigOf(KubeScheduler),
			"--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000",
		}})
	}
	return cmds
}

func etcdArgs(o Options, l layout) []string {
	heartbeat, election := 10, 100
	if o.Pace == Calm {
		heartbeat, election = 50, 500
	}
	client, peer := "unix://"+l.socket("etcd"), "unix://"+l.socket("peer")
	return []string{
		"--name=plane", "--data-dir=" + filepath.Join(l.dir, "etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=http://localhost:2380",
		fmt.Sprintf("--heartbeat-interval=%d", heartbeat), fmt.Sprintf("--election-timeout=%d", election),
		// What was written survives the death of the process; only a crash of
		// the machine may lose the last moments.
		"--unsafe-no-fsync", "--backend-batch-interval=5s", "--backend-batch-limit=100000", "--log-level=warn",
	}
}

func apiServerArgs(o Options, l layout, port int) []string {
	args := []string{
		"--etcd-servers=unix://" + l.socket("etcd"),
		"--secure-port=" + strconv.Itoa(port), "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--permit-port-sharing=true", // with the supervisor, which keeps the port reserved
		"--endpoint-reconciler-type=none",
		"--client-ca-file=" + l.pki("ca.crt"), "--cert-dir=" + l.pki(""),
		"--tls-cert-file=" + l.pki("apiserver.crt"), "--tls-private-key-file=" + l.pki("apiserver.key"),
		"--service-cluster-ip-range=10.0.0.0/16", "--authorization-mode=RBAC", "--allow-privileged=true",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + l.pki("sa.pub"), "--service-account-signing-key-file=" + l.pki("sa.key"),
		"--requestheader-client-ca-file=" + l.pki("front-proxy-ca.crt"),
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + l.pki("front-proxy.crt"), "--proxy-client-key-file=" + l.pki("front-proxy.key"),
		"--kubelet-client-certificate=" + l.pki("kubelet-client.crt"), "--kubelet-client-key=" + l.pki("kubelet-client.key"),
		"--kubelet-certificate-authority=" + l.pki("ca.crt"), "--kubelet-preferred-address-types=ExternalIP",
		"--profiling=false", "--enable-priority-and-fairness=false",
		"--max-requests-inflight=0", "--max-mutating-requests-inflight=0",
		"--disable-admission-plugins=TaintNodesByCondition,RuntimeClass,CertificateApproval,CertificateSigning,CertificateSubjectRestriction,ClusterTrustBundleAttest",
	}
	if o.Audit {
		args = append(args, "--audit-policy-file="+l.path("audit-policy.yaml"), "--audit-log-path="+l.path("audit.log"),
			"--audit-log-mode=blocking", "--audit-log-maxsize=1000000")
	}
	return args
}

func controllerManagerArgs(l layout) []string {
	args := []string{
		"--kubeconfig=" + l.kubeconfigOf(ControllerManager), "--leader-elect=false",
		"--use-service-account-credentials=false", "--service-account-private-key-file=" + l.pki("sa.key"),
		"--root-ca-file=" + l.pki("ca.crt"), "--secure-port=0", "--controller-start-interval=0s",
		"--kube-api-qps=500", "--kube-api-burst=1000",
		"--concurrent-deployment-syncs=10", "--concurrent-replicaset-syncs=10", "--concurrent-statefulset-syncs=10",
	}
	return append(args, "--controllers="+strings.Join(controllers, ","))
}

func agentArgs(o Options, l layout) []string {
	args := []string{"--kubeconfig=" + l.kubeconfigOf(Agent), "--pki=" + l.pki(""), "--nodes=" + strconv.Itoa(o.Nodes)}
	for _, f := range []struct {
		on   bool
		flag string
	}{{o.Scheduler == NoScheduler, "--bind"}, {o.LoadBalancer, "--load-balancer"}, {o.HPA, "--hpa"}} {
		if f.on {
			args = append(args, f.flag)
		}
	}
	return args
}
