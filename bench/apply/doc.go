// Command apply compares ways to keep objects as desired, by what they cost.
//
//	make bench-apply
//	bin/bench-apply -deployments 10 -configmaps 10 -services 5 -statefulsets 5 -rest 5
//
// It starts an API server and etcd, and nothing else: no controller touches the
// objects. Then the contenders run one after another, each in a process and a
// namespace of its own, over the same desired objects:
//
//	parent                           contender (this program again)
//	  change something        ──▶      its cache sees it
//	  wait for its cache      ◀──      has seen it
//	  ask for a pass          ──▶      every object made as desired, once
//	  read the audit log      ◀──      CPU, wall time, bytes, heap
//
// Requests are counted at the API server, in its audit log by user agent, and have
// to be as many as the contender itself sent. Everything else is measured in the
// contender's process. The program compares what the contenders leave behind, and
// exits with 1 if that differs for a reason that nobody has written down, or if
// Armature sent something that it need not have sent.
//
// It does not measure the API server, and no operator: there are no queues, no
// events and no status of an owner.
package main
