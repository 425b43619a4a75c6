# What a Debian 12 needs besides cellblock's packages; sourced. It is their dependencies and what the checks use.
packages=systemd,systemd-sysv,dbus,libpam-systemd,procps,nodejs,socat,uidmap,adduser,init-system-helpers
packages+=,libarchive13,libc-ares2,libedit2,libfmt9,libncursesw6,libprometheus-cpp-core1.0,libre2-9,libseccomp2,libsimdjson14,libspdlog1.10,libssl3,libstdc++6,libtomlplusplus3
