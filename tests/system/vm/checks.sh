#!/bin/bash
# The checks, as root on the machine that run.sh booted, once each boot (BOOT); /opt/checks has the packages.
set -u
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
. /opt/checks/checking.sh
. /opt/checks/sessions.sh
. /opt/checks/limits.sh
. /opt/checks/boots.sh
. /opt/checks/clock.sh
case $BOOT in
  1) install_the_packages; limits; undelegated; deaths; clock; upgrade; reboot_in_order ;;
  2) after_a_reboot; cut_the_power ;;
  *) after_a_power_cut ;;
esac
exit $failed
