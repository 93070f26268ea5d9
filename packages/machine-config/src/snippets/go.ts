/** With the public SDK, `go.viam.com/rdk`. */
import { type Access, quoted, type SnippetKey } from './access.ts';

export function goSnippet(access: Access, { id, secret }: SnippetKey): string {
  const { host, port, isPlaintext, caFile, sensor, hostsLine } = access;
  const hasCa = caFile !== undefined;
  const imports = [
    ...['context', ...(hasCa ? ['crypto/tls', 'crypto/x509'] : []), 'fmt', ...(hasCa ? ['os'] : [])],
    '',
    ...(sensor === undefined ? [] : ['go.viam.com/rdk/components/sensor']),
    ...['go.viam.com/rdk/logging', 'go.viam.com/rdk/robot/client', 'go.viam.com/utils/rpc'],
  ];
  const trust = [
    "// The cloud's own authority.",
    `pem, err := os.ReadFile(${quoted(caFile ?? '')})`,
    ...failed,
    'authority := x509.NewCertPool()',
    'authority.AppendCertsFromPEM(pem)',
    '',
  ];
  return `${[
    '// go mod init machine && go mod tidy',
    '// CGO_ENABLED=0 go run -tags no_cgo .',
    ...(hostsLine === undefined ? [] : [`// /etc/hosts needs this line: ${hostsLine}`]),
    'package main',
    '',
    'import (',
    ...imports.map((path) => (path === '' ? '' : `\t"${path}"`)),
    ')',
    '',
    'func main() {',
    ...[
      'ctx := context.Background()',
      ...(hasCa ? trust : []),
      `machine, err := client.New(ctx, ${quoted(`${host}:${port}`)}, logging.NewLogger("machine"), client.WithDialOptions(`,
      `\trpc.WithEntityCredentials(${quoted(id)}, rpc.Credentials{Type: "api-key", Payload: ${quoted(secret)}}),`,
      '\t// Through the cloud. Without this option, the client tries WebRTC first, and then reports the connection to app.viam.com,',
      '\t// signed in with this key.',
      '\trpc.WithForceDirectGRPC(),',
      ...(isPlaintext
        ? ['\t// The cloud is on this computer, so the key may be sent in plaintext.', '\trpc.WithInsecure(),']
        : []),
      ...(hasCa ? ['\trpc.WithTLSConfig(&tls.Config{RootCAs: authority, MinVersion: tls.VersionTLS12}),'] : []),
      '))',
      ...failed,
      'defer machine.Close(ctx)',
      'for _, name := range machine.ResourceNames() {',
      '\tfmt.Println(name)',
      '}',
      ...(sensor === undefined
        ? []
        : [
            `source, err := sensor.FromProvider(machine, ${quoted(sensor)})`,
            ...failed,
            'readings, err := source.Readings(ctx, nil)',
            ...failed,
            'fmt.Println(readings)',
          ]),
    ].map((line) => (line === '' ? '' : `\t${line}`)),
    '}',
  ].join('\n')}\n`;
}

const failed = ['if err != nil {', '\tpanic(err)', '}'];
