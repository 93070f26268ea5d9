import type { Output, Streams } from './output.ts';

/** One JSON object per line on standard output; logs of the processes and failures on standard error. */
export function jsonOutput({ write, complain }: Streams): Output {
  const event = (name: string, fields: object): void => write(`${JSON.stringify({ event: name, ...fields })}\n`);
  return {
    ready({ url, organizationId, locationId, machineId, partId, keyId, key, caFingerprint }) {
      const ids = { organizationId, locationId, machineId, partId, keyId };
      event('ready', { url, ...ids, ...(key ? { key } : {}), ...(caFingerprint ? { caFingerprint } : {}) });
    },
    reading: (row) => event('reading', row),
    query: (query) => event('query', query),
    webhook: (webhook) => event('webhook', webhook),
    status() {},
    logged: (_process, line) => complain(`${line}\n`),
    failed: (message, lines) => complain(`${[message, ...lines.map((line) => `  ${line}`)].join('\n')}\n`),
    stopping() {},
    stopped: () => event('stopped', {}),
  };
}
