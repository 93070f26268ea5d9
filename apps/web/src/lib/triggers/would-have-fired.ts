import type { DryRunSummary } from '@platform/proto/platform/app/v1/triggers';

type Summary = Pick<
  DryRunSummary,
  'disabled' | 'notRunBecause' | 'fired' | 'sent' | 'suppressedByInterval' | 'readings' | 'lines'
>;

/** What a dry run over the last day found, in sentences. */
export function wouldHaveFired(summary: Summary): string {
  const { disabled, notRunBecause, fired, sent, suppressedByInterval, readings, lines } = summary;
  const found = notRunBecause
    ? `It cannot run on past data: ${notRunBecause}.`
    : `Would have fired ${times(fired)} in the last 24 hours and notified ${times(sent)}; ` +
      `the interval held back ${suppressedByInterval}. Checked ${readings} readings and ${lines} log lines.`;
  return disabled ? `${found} This trigger is disabled: it does nothing until it is enabled.` : found;
}

function times(count: bigint): string {
  return count === 1n ? 'once' : `${count} times`;
}
