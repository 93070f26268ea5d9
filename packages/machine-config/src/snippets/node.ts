/** With the SDK of this project, which calls the machine through the cloud's relay. */
import { type Access, quoted, type SnippetKey } from './access.ts';

export function nodeSnippet({ origin, partId, caFile, sensor, sdk }: Access, { id, secret }: SnippetKey): string {
  const ca =
    caFile === undefined ? [] : [`  // The cloud's own authority.`, `  ca: readFileSync(${quoted(caFile)}, "utf8"),`];
  return `${[
    `// ${sdk.install}`,
    `// ${sdk.run}`,
    ...(caFile === undefined ? [] : ['import { readFileSync } from "fs";']),
    'import { openCloud } from "@platform/sdk/cloud";',
    ...(sensor === undefined ? [] : ['import { sensor } from "@platform/sdk/machine";']),
    '',
    'await using cloud = openCloud({',
    `  url: ${quoted(origin)},`,
    `  keyId: ${quoted(id)},`,
    `  key: ${quoted(secret)},`,
    ...ca,
    '});',
    `using machine = cloud.machine(${quoted(partId)});`,
    'console.log(await machine.resourceNames());',
    ...(sensor === undefined ? [] : [`console.log(await machine.resource(sensor, ${quoted(sensor)}).readings({}));`]),
  ].join('\n')}\n`;
}
