# SPDX-License-Identifier: GPL-3.0-or-later
# A scenario (README.md, "Scenarios") in three forms, by --arg form:
#
#     job        what dom0.sh does, line by line
#     machine    what `record` needs to know: pcpus, memory in MiB, scheduler, interleave, seconds
#     described  the scenario as it was recorded: NAME.json beside NAME.xentrace.gz
#
# What is wrong with it ends in an error that says so.

def wrong(text): error("\($name): \(text)");
def one_of($what; $all): . as $x
    | if any($all[]; . == $x) then . else wrong("\($what) \(tojson): expected one of \($all | join(", "))") end;
def whole($what; $least; $most):
    if type == "number" and . == floor and . >= $least and . <= $most then .
    else wrong("\($what) is \(tojson): expected a whole number from \($least) to \($most)") end;

# The programs of guest.c that a role means, by the words it is made of.
def programs:
    .role as $role
    | ([ ["server", "echo|replica|server"], ["lookbusy", "lookbusy"], ["hog", "hog"],
         ["waker", "waker|^mixed$"], ["idlehog", "mixed"] ]
       | map(select(.[1] as $word | $role | test($word)) | .[0])) as $list
    | if $list == [] and $role != "idle" then
        wrong("role \($role | tojson): expected hog, waker, mixed, echo, echomixed, lookbusy, echolookbusy, replica or idle")
      else $list end;
def serves: programs | index("server") != null;

def placement:
    (.guests_on.how // "cpupool of their own")
    | one_of("guests_on.how"; ["cpupool of their own", "same pool as dom0", "pinned, same pool as dom0"]);
def own_pool: placement == "cpupool of their own";
def cpus: [.guests_on.pcpus | if type == "array" then .[] else . end];
def tunable: .scheduler == "credit" or .scheduler == "credit2";
def length_s: if .client then (.client.seconds // .seconds // (.client | ((.period_us // .interval_us // 0) * (.rounds // .requests // 0) / 1000000)))
    else .seconds end;
def mode: .client | .mode // "interval" | one_of("client.mode"; ["closed", "open", "interval", "rounds"]);

# Evaluates to the scenario if nothing is wrong with it.
def check_guest:
    (.name // "" | if test("^[a-z][a-z0-9]*$") then . else wrong("guest name \(tojson): expected small letters and digits") end),
    programs,
    (.vcpus // 1 | whole("vcpus"; 1; 16)),
    (.weight // 256 | whole("weight"; 1; 65535)),
    ((.vcpus // 1) as $n | .cap_percent // 0 | whole("cap_percent"; 0; 100 * $n));
def check:
    . as $s
    | [ (.scheduler | one_of("scheduler"; ["credit", "credit2", "rtds", "null"])),
        (.machine_pcpus | whole("machine_pcpus"; 1; 16)),
        (if cpus == [] then wrong("guests_on.pcpus is missing") else empty end),
        (cpus[] | whole("a pCPU of guests_on"; (if $s | own_pool then 1 else 0 end); $s.machine_pcpus - 1)),
        (.guests | if type == "array" and . != [] then empty else wrong("there are no guests") end),
        (.guests | if (map(.name) | unique | length) < length then wrong("two guests have the same name") else empty end),
        (.guests[] | check_guest),
        (if .client then mode, (if any(.guests[]; serves) then empty else wrong("a client, and no guest that serves") end) else empty end),
        (if length_s > 0 then empty else wrong("seconds: expected how long to record") end) ] as $checked
    | $s;

def guest_line($s; $number):
    (programs | join(",")) as $run
    | (.lookbusy // .) as $busy
    | [ .name,
        (if .pinned_to != null then [.pinned_to] | flatten | join(",")
         elif $s | own_pool then "all" else $s | cpus | join(",") end),
        (.weight // 256), (.vcpus // 1),
        ([ "run=\($run)",
           (if .sleep_us then "sleep_us=\(.sleep_us)" else empty end),
           ((.burst_us_nominal // .burst_us) | if . then "burst_us=\(.)" else empty end),
           (if .compute_us then "compute_us=\(.compute_us)" else empty end),
           (if $busy.percent then "percent=\($busy.percent)", "seed=\($busy.seed // 1)" else empty end),
           (if serves then "ip=10.0.0.\(10 + $number)" else empty end)
         ] | join(" ")) ]
    | "guest " + (map(@sh) | join(" "));

def client_line:
    . as $s
    | [ .guests | to_entries[] | select(.value | serves) | "10.0.0.\(10 + .key)" ] as $ips
    | mode as $mode
    | .client
    | [ "record_client", $mode, "/out/log" ]
      + if $mode == "closed" or $mode == "open" then [ .seed // 1, .rate, ($s | length_s), $ips[0] ]
        elif $mode == "interval" then [ .interval_us // .period_us, .requests, $ips[0] ]
        else [ .period_us, .rounds, (if .rotate then 1 else 0 end) ] + $ips end
    | if any(.[]; . == null) then wrong("the client lacks a period, a rate or a number of requests") else . end
    | map(tostring) | join(" ");

def job:
    . as $s
    | (if own_pool then "P1" else "Pool-0" end) as $pool
    | (if $interleave == "1" then "client interleave" else empty end),
      (if own_pool then "pool \(.scheduler) \(cpus | map(tostring) | join(" "))" else empty end),
      (.guests | to_entries[] | .key as $i | .value | guest_line($s; $i)),
      (if tunable then
         "xl sched-\(.scheduler) -p \($pool) -s"
         + (if .scheduler == "credit" then " -t \(.tslice_ms // 30)" else "" end)
         + " -r \(.ratelimit_us // 1000)"
         + " || fail 'the scheduler does not take these parameters'"
       else empty end),
      (.guests[]
       | (if (.cap_percent // 0) > 0 and ($s | tunable) then "xl sched-\($s.scheduler) -d \(.name) -c \(.cap_percent)" else empty end),
         # without "-v all" xl changes nothing
         (if $s.scheduler == "rtds" and .rtds then
            "xl sched-rtds -d \(.name) -v all -p \(.rtds.period_us) -b \(.rtds.budget_us) -e \(.rtds.extratime // 1) || fail rtds"
          else empty end)),
      "sleep \($phase)",
      "go \(.settle_s // 1)",
      (if .client then client_line else "record \(.seconds)" end);

def machine:
    (cpus | length) as $n
    | "pcpus=\(.machine_pcpus) memory=\(1200 + 128 * (.guests | length)) "
      + "scheduler=\(.scheduler) boot=\(if own_pool then "credit" else .scheduler end) "
      # pCPUs that are busy at the same time: the guests' if several, dom0's if it serves a client
      + "interleave=\(if $n + (if .client and own_pool then 1 else 0 end) > 1 then 1 else 0 end) "
      + "seconds=\(length_s | ceil)";

def described:
    . as $s
    | { capture: $name, xen: $xen, scheduler }
    + (if tunable then { ratelimit_us: (.ratelimit_us // 1000) } else {} end)
    + (if .scheduler == "credit" then { tslice_ms: (.tslice_ms // 30) } else {} end)
    + { tsc_mhz: 1000, machine_pcpus, dom0: { vcpus: 1, pinned_to: 0, scheduler: (if own_pool then "credit" else .scheduler end) },
        guests_on: { pcpus: cpus, how: placement }, seconds: length_s,
        guests: [ .guests | to_entries[] | { domid: (.key + 1) } + (.value | del(.domid))
                  | .vcpus //= 1 | .weight //= 256 | .cap_percent //= 0 ] }
    + (if .client then { client: ({ where: "dom0", protocol: "UDP, 64 bytes", mode: mode } + .client
                                  | del(.rtt_file, .columns) | .log = "\($name).csv") } else {} end)
    + { event_mask: "0x0002f000 (scheduler classes)", compute_percent: 100, emulator: $emulator, phase_s: ($phase | tonumber) };

check | if $form == "job" then job elif $form == "machine" then machine else described end
