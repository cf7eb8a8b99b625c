#!/usr/bin/env bash
# What the action runs: BENCHMARK, FILES (one on each line), ENTRANT, PREREG, METADATA and DRY_RUN come from its inputs,
# PLUMBLINE_SERVER and PLUMBLINE_TOKEN are read by the client. Ends as `plumbline submit` does: 0 published or checked.
set -uo pipefail

arguments=(submit "$BENCHMARK")
while IFS= read -r file; do
  [[ -n $file ]] && arguments+=("$file")
done <<<"$FILES"
[[ -n ${ENTRANT-} ]] && arguments+=(--entrant "$ENTRANT")
[[ -n ${PREREG-} ]] && arguments+=(--prereg "$PREREG")
[[ -n ${METADATA-} ]] && arguments+=(--metadata "$METADATA")
[[ ${DRY_RUN-} == true ]] && arguments+=(--dry-run)

printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
plumbline "${arguments[@]}" 2>&1 | tee "$printed"
code=${PIPESTATUS[0]}

number=$(sed -n 's/^Submission \([0-9]*\): .*/\1/p' "$printed" | head -n 1)
status=$(sed -n 's/^Submission [0-9]* is \([a-z ]*\): .*/\1/p' "$printed" | tail -n 1 | tr ' ' '_')
[[ $code == 0 && ${DRY_RUN-} == true ]] && status=checked
{
  echo "submission=$number"
  echo "status=${status:-refused}"
} >>"${GITHUB_OUTPUT:-/dev/null}"
{
  echo "### plumbline: ${BENCHMARK}"
  echo '```'
  cat "$printed"
  echo '```'
} >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$code"
