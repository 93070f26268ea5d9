import { type Output, type Ready, restartSentence, type Streams } from './output.ts';

/** One JSON object per line on standard output; logs of the processes and failures on standard error. */
export function jsonOutput({ write, complain }: Streams): Output {
  const event = (name: string, fields: object): void => write(`${JSON.stringify({ event: name, ...fields })}\n`);
  const failed = (message: string, lines: readonly string[]): void =>
    complain(`${[message, ...lines.map((line) => `  ${line}`)].join('\n')}\n`);
  // The cloud's own line is between processes; ours is for programs, which find the same spelling in all results.
  const ready = (cloud: Ready): void =>
    event('ready', {
      url: cloud.url,
      organization_id: cloud.organizationId,
      location_id: cloud.locationId,
      machine_id: cloud.machineId,
      part_id: cloud.partId,
      key_id: cloud.keyId,
      ...(cloud.key && { key: cloud.key }),
      ...(cloud.caFingerprint && { ca_fingerprint: cloud.caFingerprint }),
      ...(cloud.safetyCopy && { safety_copy: cloud.safetyCopy }),
    });
  return {
    ready,
    cloudEnded(how, pauseMs, lines) {
      event('cloud_ended', { reason: how, restarts_in_ms: pauseMs });
      failed(restartSentence(how, pauseMs), lines);
    },
    readyAgain: ready,
    resumed: (readings) => event('resumed', { readings }),
    reading: (row) => event('reading', row),
    query: (query) => event('query', query),
    webhook: ({ receivedAt, ...webhook }) => event('webhook', { ...webhook, received_at: receivedAt }),
    status() {},
    logged: (_process, line) => complain(`${line}\n`),
    failed,
    stopping() {},
    stopped: () => event('stopped', {}),
  };
}
