/** A script for sh: the Connect protocol with JSON. Secrets are not among the arguments of programs, where other accounts see them. */
import type { Access, SnippetKey } from './access.ts';

export function curlSnippet({ origin, partId, caFile, sensor }: Access, { id, secret }: SnippetKey): string {
  const curl = `curl -sS${caFile === undefined ? '' : ` --cacert ${word(caFile)}`}`;
  const signIn = JSON.stringify({ entity: id, credentials: { type: 'api-key', payload: secret } });
  return `${[
    '# sh machine.sh',
    `cloud=${word(origin)}`,
    `token=$(${curl} "$cloud/proto.rpc.v1.AuthService/Authenticate" -H 'content-type: application/json' --data @- <<'END' | sed -n 's/.*"accessToken":"\\([^"]*\\)".*/\\1/p'`,
    signIn,
    'END',
    ')',
    `[ -n "$token" ] || { echo 'expected a token for the key, found none' >&2; exit 1; }`,
    '',
    'call() {',
    `  printf 'header = "authorization: Bearer %s"\\n' "$token" |`,
    `    ${curl} -K - "$cloud/$1" -H 'platform-part: ${partId}' -H 'content-type: application/json' --data "$2"`,
    '  echo',
    '}',
    `call platform.robot.v1.RobotService/ResourceNames '{}'`,
    ...(sensor === undefined
      ? []
      : [`call platform.component.sensor.v1.SensorService/GetReadings ${word(JSON.stringify({ name: sensor }))}`]),
  ].join('\n')}\n`;
}

/** As one word of a shell command. */
function word(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
