#!/bin/sh
# Wrong scenarios: each must end with exit 2, name the file, line, JSON pointer and what would be
# right, and leave no output behind.
set -u
cd "$TMP" || exit 1

cat >base.json <<'END'
{
  "version": 1,
  "replications": 2,
  "warmup": "50ms",
  "duration": "200ms",
  "hosts": [
    {
      "name": "xen",
      "pcpus": 4,
      "scheduler": "credit",
      "pools": [ { "name": "all", "cpus": "0-3" } ],
      "dom0": { "vcpus": 1 },
      "domains": [
        {
          "name": "server",
          "weight": 256,
          "network": {},
          "programs": [ { "run": "rpc" } ]
        },
        {
          "name": "hog",
          "count": 2,
          "programs": [ { "run": { "type": "lookbusy", "busy": "30%" } } ]
        }
      ]
    }
  ],
  "clients": [
    { "name": "client", "to": "server" }
  ],
  "actions": [
    { "at": "100ms", "do": { "action": "set-weight", "weight": 512 }, "target": "hog1" }
  ]
}
END

# check NAME FILE PATTERN...: what FILE gives
check() {
    name=$1 file=$2
    shift 2
    rm -rf out
    timeout 60 "$HVSIM" run --quiet --out out "$file" >stdout 2>stderr
    code=$?
    if [ $code -ne 2 ]; then
        echo "FAIL errors/$name: exit $code: $(head -3 stderr)"
    elif [ -e out ]; then
        echo "FAIL errors/$name: output was left behind"
    elif [ -s stdout ]; then
        echo "FAIL errors/$name: something on standard output"
    else
        for pattern in "$@"; do
            grep -q -- "$pattern" stderr || {
                echo "FAIL errors/$name: does not say \"$pattern\": $(head -3 stderr)"
                return
            }
        done
        echo "ok errors/$name"
    fi
}

# wrong NAME LINE POINTER WORDS SED: the base scenario changed by SED
wrong() {
    sed "$5" base.json >"$1.json"
    if cmp -s base.json "$1.json"; then
        echo "FAIL errors/$1: the change changes nothing"
    else
        check "$1" "$1.json" "^$1.json:$2:[0-9]*: ${3:+$3[: ]}" "$4"
    fi
}

if "$HVSIM" run --quiet --out out base.json >stdout 2>stderr && [ -e out/results.json ]; then
    echo "ok errors/base"
else
    echo "FAIL errors/base: the scenario itself is wrong: $(head -3 stderr)"
fi

#     name            line pointer                            words              change
wrong syntax          10 ''                                   'expected\|wanted\|,' '9s/,$//'
wrong unclosed        34 ''                                   '.'                '$d'
wrong duplicate_key   4  '/replications'                      'twice\|duplicate\|again\|already' '4s/"warmup": "50ms"/"replications": 3/'
wrong no_version      1  ''                                   '"version" is missing' '2d'
wrong other_version   2  '/version'                           'reads version 1'  '2s/1/7/'
wrong unknown_key     3  '/replicatons'                       'did you mean "replications"' '3s/replications/replicatons/'
wrong unknown_deep    16 '/hosts/0/domains/0/wieght'          'did you mean "weight"' '16s/weight/wieght/'
wrong no_unit         5  '/duration'                          'unit'             '5s/"200ms"/200/'
wrong bad_unit        5  '/duration'                          'ns, us, ms'       '5s/200ms/200mm/'
wrong other_quantity  5  '/duration'                          'duration\|ns, us' '5s/200ms/2Gbps/'
wrong too_large       16 '/hosts/0/domains/0/weight'          '1 to 65535'       '16s/256/70000/'
wrong too_small       3  '/replications'                      '1 to 100000'      '3s/2/0/'
wrong not_whole       3  '/replications'                      'whole number'     '3s/2/2.5/'
wrong string_for_number 9 '/hosts/0/pcpus'                    'whole number'     '9s/4/"four"/'
wrong list_for_object 12 '/hosts/0/dom0'                      'an object'        '12s/{ "vcpus": 1 }/[]/'
wrong no_hosts        1  ''                                   '"hosts" is missing' '6,27d'
wrong empty_hosts     6  '/hosts'                             'at least 1'       '6,27c\  "hosts": [],'
wrong unknown_scheduler 10 '/hosts/0/scheduler'               'did you mean "credit"' '10s/credit/credti/'
wrong scheduler_member 10 '/hosts/0/scheduler/tslcie'         'did you mean "tslice"' '10s/"credit"/{"type": "credit", "tslcie": "5ms"}/'
wrong scheduler_value 10 '/hosts/0/scheduler/tslice'          'whole number of milliseconds' '10s/"credit"/{"type": "credit", "tslice": "1500us"}/'
wrong unknown_program 18 '/hosts/0/domains/0/programs/0/run'  'no type "rpcc"'   '18s/rpc/rpcc/'
wrong program_member  23 '/hosts/0/domains/1/programs/0/run/bussy' 'did you mean "busy"' '23s/"busy"/"bussy"/'
wrong percent         23 '/hosts/0/domains/1/programs/0/run/busy' '100%'         '23s/30%/130%/'
wrong xen_version     8  '/hosts/0/xen'                       '"4.17"'           '8s/"name": "xen"/"name": "xen", "xen": "4.5"/'
wrong pool_pcpu       11 '/hosts/0/pools/0/cpus'              'no pCPU 4-7: the host has pCPUs 0 to 3' '11s/0-3/0-7/'
wrong pool_syntax     11 '/hosts/0/pools/0/cpus'              '"0-3,5"'          '11s/0-3/0..3/'
wrong pool_range      11 '/hosts/0/pools/0/cpus'              'smaller number'   '11s/0-3/3-0/'
wrong pool_overlap    11 '/hosts/0/pools/1/cpus'              'pCPU 3 is in an earlier pool' '11s/} ]/}, { "name": "b", "cpus": "3" } ]/'
wrong pool_twice      11 '/hosts/0/pools/1/name'              'also by /hosts/0/pools/0/name' '11s/0-3" } ]/0-2" }, { "name": "all", "cpus": "3" } ]/'
wrong pool_unknown    16 '/hosts/0/domains/0/pool'            'did you mean "all"' '16s/"weight": 256/"pool": "al"/'
wrong no_pools        15 '/hosts/0/domains/0/pool'            'has no "pools"'   '11d;16s/"weight": 256/"pool": "all"/'
wrong affinity_beyond 16 '/hosts/0/domains/0/hard_affinity'   'no pCPU 6'        '16s/"weight": 256/"hard_affinity": "2,6"/'
wrong affinity_pool   16 '/hosts/0/domains/0/hard_affinity'   'could never run'  '11s/0-3/0-1/;16s/"weight": 256/"hard_affinity": "2-3"/'
wrong cap             16 '/hosts/0/domains/0/cap'             'more than 100 per cent' '16s/"weight": 256/"cap": 150/'
wrong domain_twice    21 '/hosts/0/domains/1/name'            '/hosts/0/domains/0/name' '21s/hog/server/;22s/2/1/'
wrong counted_twice   21 '/hosts/0/domains/1/name'         '"hog2"'           '15s/server/hog2/;29s/server/hog2/'
wrong no_dom0         16 '/hosts/0/domains/0/network'         '"dom0": {}'       '12d'
wrong no_network      17 '/hosts/0/domains/0/programs/0/run'  '"network": {}'    '17d'
wrong program_vcpu    18 '/hosts/0/domains/0/programs/0/vcpu' 'no vCPU 3'        '18s/"rpc"/"rpc", "vcpu": 3/'
wrong threads         9  '/hosts/0/threads_per_core'          'cores of 3 threads' '9s/4/4, "threads_per_core": 3/'
wrong speeds          9  '/hosts/0/speeds'                    '3 speeds for 4 pCPUs' '9s/4/4, "speeds": [100, 50, 50]/'
wrong client_to       29 '/clients/0/to'                      'did you mean "server"' '29s/"server"/"sever"/'
wrong client_hog      29 '/clients/0/to'                      'is a server'      '29s/"server"/"hog1"/'
wrong client_host     29 '/clients/0/on'                      'is Xen host'      '29s/"to"/"on": "xen", "to"/'
wrong client_port     29 '/clients/0/port'                    'no server of domain "server" has port 80' '29s/"to"/"port": 80, "to"/'
wrong client_twice    29 '/clients/1/name'                    '/clients/0/name'  '29s/$/, { "name": "client", "to": "server" }/'
wrong action_unknown  32 '/actions/0/do/action'               'did you mean "set-weight"' '32s/set-weight/set-wieght/'
wrong action_target   32 '/actions/0/target'                  'did you mean "hog1"' '32s/hog1/hog7/'
wrong action_late     32 '/actions/0/at'                      'over by then'     '32s/100ms/900ms/'
wrong action_twice    32 '/actions/1/target'                  'created once' '32s/.*/{"at":"100ms","do":"create","target":"hog1"},{"at":"200ms","do":"create","target":"hog1"}/'
wrong action_early    32 '/actions/0/at'                      'not there yet' '32s/.*/{"at":"100ms","do":"pause","target":"hog1"},{"at":"200ms","do":"create","target":"hog1"}/'
wrong create_dom0     32 '/actions/0/target'                  'dom0 creates the others' '32s/.*/{"at":"100ms","do":"create","target":"dom0"}/'
wrong create_at_0     32 '/actions/0/at'                      'from the beginning' '32s/.*/{"at":"0","do":"create","target":"hog1"}/'
wrong action_host     32 '/actions/0/target'                  'the platform.s host "nowhere"' '32s/.*/    { "at": "100ms", "do": "host-off", "target": "nowhere" }/'
wrong action_link     32 '/actions/0/target'                  'uses a link "nowhere"' '32s/.*/    { "at": "100ms", "do": "link-off", "target": "nowhere" }/'
wrong exact_cost      12 '/hosts/0/dom0/costs/upcall'         '"exact" sets all costs to zero' '2s/1,/1, "exact": true,/;12s/"vcpus": 1/"costs": {"upcall": "1us"}/'
wrong no_platform     2  '/platform'                          'one-host.platform.xml' '2s/1,/1, "platform": "none.xml",/'
wrong platform_host   8  '/hosts/0/name'                      'has no host "xan"' '8s/xen/xan/'
wrong platform_on     8  '/hosts/0/on'                        'has no host "blue"' '8s/"xen"/"xen", "on": "blue"/'
wrong platform_client 29 '/clients/0/name'                    'has no host "clint"' '29s/client/clint/'

# A platform of one's own that lacks a route, or is none.
cat >island.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="xen" speed="1Gf" core="4"/>
    <host id="client" speed="1Gf"/>
  </zone>
</platform>
END
sed '2s/1,/1, "platform": "island.xml",/' base.json >no_route.json
check no_route no_route.json 'island.xml' 'route' 'xen'
printf '<platform version="4.1"><zone id="z"></platform>\n' >broken.xml
sed '2s/1,/1, "platform": "broken.xml",/' base.json >broken_platform.json
check broken_platform broken_platform.json 'broken.xml'

# All errors of a file at once.
sed '3s/2/0/;5s/"200ms"/200/;16s/weight/wieght/;23s/30%/130%/;29s/"server"/"sever"/' base.json >all.json
check all_at_once all.json '^all.json:3:.*/replications' '^all.json:5:.*/duration' \
    '^all.json:16:.*/hosts/0/domains/0/wieght' '^all.json:23:.*/run/busy' '^all.json:29:.*/clients/0/to'

check missing_file nowhere.json '^nowhere.json: ' 'No such file'
mkdir -p folder
check directory folder '^folder: '

# Flags are named instead of a line.
flag() { # NAME WORDS ARGUMENT...
    name=$1 words=$2
    shift 2
    rm -rf out
    timeout 60 "$HVSIM" "$@" --quiet --out out base.json >stdout 2>stderr
    code=$?
    if [ $code -ne 2 ] || [ -e out ]; then
        echo "FAIL errors/$name: exit $code: $(head -3 stderr)"
    elif ! grep -q -- "$words" stderr; then
        echo "FAIL errors/$name: does not say \"$words\": $(head -3 stderr)"
    else
        echo "ok errors/$name"
    fi
}
flag set_value '--set /duration=soon: /duration\|--set /duration=soon' run --set /duration=soon
flag set_unknown 'did you mean "duration"' run --set /duratoin=1s
flag set_pointer '--set duration=1s' run --set duration=1s
flag seed 'whole number' run --seed many
flag replications '1 to 100000' run --replications 0
flag trace 'must end in' run --trace trace.txt
flag trace_nowhere 'nowhere/x.csv: .*make the directory first' run --trace nowhere/x.csv
flag vary_none '--vary' compare
flag vary_value '/hosts/0/scheduler=credti' compare --vary /hosts/0/scheduler=credit,credti
flag vary_twice 'given twice' compare --vary /seed=1,1
flag vary_again 'given twice' compare --vary /seed=1,2 --vary /seed=3,4
flag vary_empty 'missing between' compare --vary /seed=1,,2
flag vary_pointer '/json/pointer' compare --vary seed=1,2

# What explain cannot look at.
explain() { # NAME WORDS ARGUMENT...
    name=$1 words=$2
    shift 2
    timeout 60 "$HVSIM" explain "$@" base.json >stdout 2>stderr
    code=$?
    if [ $code -ne 2 ] || [ -s stdout ] || ! grep -q -- "$words" stderr; then
        echo "FAIL errors/$name: exit $code, wanted 2 and \"$words\": $(head -3 stderr)"
    else
        echo "ok errors/$name"
    fi
}
explain explain_pcpu 'pCPUs 0 to 3' --at 100ms --pcpu 4
explain explain_late '--at 100s: .* ends at' --at 100s
