#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# In dom0, called by xl when a guest's network interface comes or goes: plugs it into the bridge.
# shellcheck disable=SC2154 # vif and XENBUS_PATH come from xl
export PATH=/bin:/usr/bin
case $1 in
online | add)
    ip link set "$vif" up
    brctl addif br0 "$vif"
    xenstore-write "$XENBUS_PATH/hotplug-status" connected
    ;;
offline | remove) ip link set "$vif" down ;;
esac
exit 0
