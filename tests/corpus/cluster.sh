#!/bin/bash
# SPDX-License-Identifier: MIT
# cluster.sh DIR NODES COMMAND...: runs COMMAND with a Slurm of NODES nodes, all of them this machine, which ends
# with it. For mount, process and network namespaces of its own, as root: only the loopback network is used.
# DIR gets configuration, state and logs. In COMMAND, SLURM_CONF is set, and NODES_DIR/NAME has the node's pid.
set -eu
mkdir -p "$1" && dir=$(realpath "$1") nodes=$2
shift 2
# Slurm's daemons listen nowhere when no address but 127.0.0.1 is there. This one is for examples (RFC 5737).
ip link set lo up
ip addr add 192.0.2.1/32 dev lo
mkdir -p "$dir/state" "$dir/nodes"
host=$(hostname)
cat >"$dir/slurm.conf" <<-CONF
	ClusterName=corpus
	SlurmctldHost=$host(127.0.0.1)
	SlurmctldPort=16817
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$dir/munge.socket,cred_expire=10
	CredType=cred/munge
	StateSaveLocation=$dir/state
	SlurmdSpoolDir=$dir/nodes/%n.spool
	SlurmctldPidFile=$dir/slurmctld.pid
	SlurmdPidFile=$dir/nodes/%n.pid
	SlurmctldLogFile=$dir/slurmctld.log
	SlurmdLogFile=$dir/nodes/%n.log
	ProctrackType=proctrack/pgid
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU
	MaxArraySize=100001
	MaxJobCount=100001
	JobRequeue=1
	# A node that says nothing for so long is down, and its jobs start elsewhere.
	SlurmdTimeout=${NODE_TIMEOUT:-30}
	ReturnToService=2
	SchedulerParameters=sched_interval=2,batch_sched_delay=0,requeue_delay=0
	NodeName=node[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[16821-$((16820 + nodes))] CPUs=1 State=UNKNOWN
	PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
# Later releases want control groups for each daemon, unless they are told not to; earlier ones do not know the word.
case $(slurmd -V) in
*' 2'[0-2].*) ;;
*) echo CgroupPlugin=disabled >"$dir/cgroup.conf" ;;
esac
export SLURM_CONF=$dir/slurm.conf NODES_DIR=$dir/nodes
(umask 077; head -c 128 /dev/urandom >"$dir/munge.key")
munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munge.pid" \
	--seed-file="$dir/munge.seed" --log-file="$dir/munge.log"
slurmctld
for i in $(seq "$nodes"); do
	slurmd -N "node$i"
done
for try in $(seq 600); do
	[ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" != "$nodes" ] || break
	[ "$try" != 600 ] || { echo "the nodes do not start, see $dir" >&2; exit 1; }
	sleep 0.2
done
"$@"
