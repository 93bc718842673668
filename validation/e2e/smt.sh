#!/bin/sh
# The default slow-down of hyperthreads against the measurement it is calibrated to (2 and 10 VMs)
# and the one that judges it (6 VMs): Xen commit ebce2d83. Bounds are the measurement's own.
set -u
root=$PWD
cd "$TMP" || exit 1

# job_time VMS LOW HIGH
job_time() {
    "$HVSIM" run --quiet --replications 5 --set "/hosts/0/domains/0/count=$1" --out "vms$1" \
        "$root/experiments/library/smt-sysbench.json" >"vms$1.txt" 2>&1
    awk -F, -v vms="$1" -v low="$2" -v high="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "job_time_s") c = i; next }
        $1 == "xen/vm" { t = $c }
        END {
            if (t >= low && t <= high) print "ok smt/vms_" vms
            else print "FAIL smt/vms_" vms ": " t " s is not between " low " and " high
        }' "vms$1/groups.csv"
}
job_time 2 49.66 49.68
job_time 6 60.66 62.70
job_time 10 88.81 91.99

# Without a slow-down 6 VMs are as fast as 2, and 10 are not slower than 20 vCPUs on 16 make them.
"$HVSIM" run --quiet --replications 5 --set /hosts/0/domains/0/count=6 \
    --set /hosts/0/costs/smt_factor=100 --out none "$root/experiments/library/smt-sysbench.json" \
    >none.txt 2>&1
if awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "job_time_s") c = i; next }
            $1 == "xen/vm" { exit !($c > 49.6 && $c < 49.8) }' none/groups.csv; then
    echo "ok smt/factor_100"
else
    echo "FAIL smt/factor_100: $(cut -c1-80 none/groups.csv | tail -1)"
fi
