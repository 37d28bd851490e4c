# Finds the JDK and runs Maven; sourced by cassia and check. Expects $root.

# Sets JDK and JDK_VERSION when $1 is the home of a Java 25; reads a file, starts nothing.
use_if_java_25() {
  local line version=
  [ -x "$1/bin/java" ] && [ -r "$1/release" ] || return 1
  while IFS= read -r line; do
    case $line in
      JAVA_VERSION=\"25\" | JAVA_VERSION=\"25[.+-]*) version=${version:-25} ;;
      JAVA_VERSION=*) return 1 ;;
      JAVA_RUNTIME_VERSION=*) version=${line#*\"} version=${version%\"*} ;;
    esac
  done <"$1/release"
  [ -n "$version" ] || return 1
  JDK=$1
  JDK_VERSION=${version//[^0-9A-Za-z.+-]/_}
}

find_java_25() {
  local home java
  for home in "${JAVA_HOME:-}" /usr/lib/jvm/*25* /opt/java/*25* /opt/*jdk*25* \
    "${HOME:-/nowhere}"/.sdkman/candidates/java/25* "${HOME:-/nowhere}"/.jdks/*25* \
    /Library/Java/JavaVirtualMachines/*25*/Contents/Home; do
    [ -n "$home" ] && use_if_java_25 "$home" && return
  done
  if java=$(command -v java); then
    java=$(readlink -f -- "$java" 2>/dev/null || printf %s "$java")
    use_if_java_25 "${java%/bin/java}" && return
  fi
  return 1
}

require_java_25() {
  find_java_25 && return
  local found='none found'
  if [ -n "${JAVA_HOME:-}" ]; then
    found="JAVA_HOME is $JAVA_HOME"
  elif command -v java >/dev/null; then
    found="java on the PATH is $(java -version 2>&1 | head -n 1)"
  fi
  printf '%s: needs a JDK 25 (%s); install one, for example Eclipse Temurin 25 from adoptium.net, under /usr/lib/jvm or set JAVA_HOME to it.\n' \
    "${0##*/}" "$found" >&2
  exit 1
}

require_maven() {
  command -v mvn >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    printf '%s: installing Maven\n' "${0##*/}" >&2
    { apt-get install -y -q maven || { apt-get update -q && apt-get install -y -q maven; }; } \
      </dev/null >/dev/null 2>&1
    command -v mvn >/dev/null && return
  fi
  printf '%s: needs Maven 3.8 or newer (mvn) to build; install it, for example with "apt-get install maven".\n' \
    "${0##*/}" >&2
  exit 1
}

# Maven in the project with the right JDK: first without the network, then, when something is missing
# here, with it. The output goes to standard output. A failure of the build itself is not tried again.
run_maven() {
  local log status=0
  log=$(mktemp "${TMPDIR:-/tmp}/cassia-maven.XXXXXX")
  maven_once -o "$@" | tee "$log" || status=$?
  if [ "$status" != 0 ] && grep -qE 'in offline mode|has not been downloaded from it before|is missing, no dependency information' "$log"; then
    status=0
    printf '[INFO] something is missing here; once more with the network\n'
    maven_once "$@" || status=$?
  fi
  rm -f -- "$log"
  return "$status"
}

maven_once() {
  (cd "$root" && JAVA_HOME=$JDK exec mvn -B -ntp -Dstyle.color=never "$@" </dev/null 2>&1)
}
