/**
 * A page with the public SDK, `@viamrobotics/sdk` on npm: over WebRTC, which the cloud's signaling sets up. On the computer of the cloud
 * itself it calls the cloud directly, which this SDK does only for addresses that contain `local`.
 */
import { type Access, quoted, type SnippetKey } from './access.ts';

export function browserSnippet(access: Access, { id, secret }: SnippetKey): string {
  const { origin, port, name, isLocal, isPlaintext, caFile, sensor } = access;
  const connect = isLocal ? 'RobotClient' : 'createRobotClient';
  const address = isLocal
    ? [`host: ${quoted(`${isPlaintext ? 'http' : 'https'}://localhost:${port}`)},`]
    : [`host: ${quoted(name)},`, `signalingAddress: ${quoted(origin)},`];
  return `${[
    '<!doctype html>',
    '<!-- npm install @viamrobotics/sdk',
    '     python3 -m http.server 8000 --bind 127.0.0.1',
    '     Open http://localhost:8000/machine.html. Whoever can open this page can read the key. -->',
    ...(caFile === undefined
      ? []
      : [`<!-- The browser must trust the cloud's own authority: import ${quoted(caFile)}. -->`]),
    '<meta charset="utf-8" />',
    '<title>Machine</title>',
    '<pre id="out">Connecting …</pre>',
    '<script type="importmap">',
    '  { "imports": { "@viamrobotics/sdk": "./node_modules/@viamrobotics/sdk/dist/main.es.js" } }',
    '</script>',
    '<script type="module">',
    `  import { ${[connect, ...(sensor === undefined ? [] : ['SensorClient'])].join(', ')} } from "@viamrobotics/sdk";`,
    '',
    '  const out = document.getElementById("out");',
    '  try {',
    `    const machine = await ${isLocal ? 'new RobotClient().dial' : 'createRobotClient'}({`,
    ...address.map((line) => `      ${line}`),
    `      credentials: { type: "api-key", authEntity: ${quoted(id)}, payload: ${quoted(secret)} },`,
    '      noReconnect: true,',
    '    });',
    '    const names = await machine.resourceNames();',
    '    const lines = names.map(({ type, subtype, name }) => [type, subtype, name].join(" "));',
    ...(sensor === undefined
      ? []
      : [
          `    const readings = await new SensorClient(machine, ${quoted(sensor)}).getReadings();`,
          '    lines.push(JSON.stringify(readings, undefined, 2));',
        ]),
    '    out.textContent = lines.join("\\n");',
    '    await machine.disconnect();',
    '  } catch (error) {',
    '    out.textContent = String(error);',
    '  }',
    '</script>',
  ].join('\n')}\n`;
}
