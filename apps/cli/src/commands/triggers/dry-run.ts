/** `platform triggers dry-run`: what triggers would have done with the stored readings and logs. */
import { type DryRunSummary, TriggerOutcome } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { defineCommand } from '../../invocation/define-command.ts';
import { timeBefore } from '../../invocation/parse-time.ts';
import { timeRange } from '../../invocation/time-range.ts';
import { limitOf } from '../../invocation/whole-number.ts';
import { presenter, timeOf } from '../../results/presenters.ts';
import { partArgument } from '../config/configuration.ts';
import { readDraft } from './draft-file.ts';

const { fields, shape } = presenter<DryRunSummary>({
  trigger: (one) => one.trigger,
  event: (one) => one.eventType,
  disabled: (one) => one.disabled,
  fired: (one) => Number(one.fired),
  recovered: (one) => Number(one.recovered),
  sent: (one) => Number(one.sent),
  suppressed_by_interval: (one) => Number(one.suppressedByInterval),
  first: (one) => timeOf(one.first),
  last: (one) => timeOf(one.last),
  readings: (one) => Number(one.readings),
  lines: (one) => Number(one.lines),
  not_run_because: (one) => one.notRunBecause,
  occurrences: (one) =>
    one.occurrences.map(({ outcome, at, reason, notifications }) => ({
      outcome: outcomeOf(outcome),
      at: timeOf(at),
      reason,
      sent: notifications.filter(({ deliveryId }) => deliveryId !== '').length,
    })),
});

export function dryRunCommand(): Command {
  return defineCommand(
    new Command('dry-run')
      .description('show what triggers would have done with the stored readings and logs, without sending anything')
      .argument(...partArgument)
      .option('--file <file>', 'triggers to try out, as JSON, in place of the saved ones; - reads standard input')
      .option('--trigger <name>', 'only this trigger')
      .option('--since <when>', 'from this time on: a duration such as 24h, or a time', '7d')
      .option('--until <when>', 'until this time: a duration such as 1h, or a time; default: now')
      .option('--limit <number>', 'maximum number of occurrences to show for each trigger', '20'),
    {
      examples: [
        'platform triggers dry-run press-7 --since 7d',
        'platform triggers dry-run press-7 --file draft.json --since 2026-01-05 --limit 100',
        'platform triggers dry-run press-7 --trigger hot --json=fired,sent,occurrences',
      ],
      fields,
    },
    async (context, flags, part = '') => {
      const { out } = context;
      const { id: partId } = await context.find.part(part);
      const draft =
        flags['file'] === undefined ? undefined : await readDraft(String(flags['file']), context.invocation);
      const since = timeBefore(String(flags['since']), '--since');
      const summaries = await run(context, {
        partId,
        ...(draft && { draft: { triggers: draft } }),
        names: flags['trigger'] === undefined ? [] : [String(flags['trigger'])],
        ...timeRange(flags),
        maxOccurrences: limitOf(flags['limit'], '--limit'),
      });
      if (out.style.json !== false) out.rows(summaries.map(shape), fields);
      else for (const summary of summaries) out.raw(textOf(summary, since));
      if (summaries.length === 0) out.note('the part has no triggers without errors');
    },
  );
}

type Request = Parameters<Awaited<ReturnType<Context['cloud']>>['triggers']['dryRunTriggers']>[0];

async function run({ cloud, out }: Context, request: Request): Promise<DryRunSummary[]> {
  const summaries: DryRunSummary[] = [];
  const { triggers } = await cloud();
  for await (const { result } of triggers.dryRunTriggers(request, { timeoutMs: 0 })) {
    if (result.case === 'begun')
      for (const { severity, path, message } of result.value.problems) out.warn(`${severity}: ${path}: ${message}`);
    else if (result.case === 'summary') summaries.push(result.value);
  }
  return summaries;
}

/** "would have fired 14 times since …; 9 suppressed by the interval". */
function textOf(one: DryRunSummary, since: Date): string {
  const disabled = one.disabled ? ['the trigger is disabled: it does nothing until it is enabled'] : [];
  if (one.notRunBecause !== '')
    return [`${one.trigger}: not run, because ${one.notRunBecause}`, ...disabled].join('; ');
  const times = Number(one.fired) === 1 ? 'once' : `${one.fired} times`;
  const [suppressed, recovered] = [Number(one.suppressedByInterval), Number(one.recovered)];
  const head = `${one.trigger}: would have fired ${times} since ${since.toISOString()}`;
  const more = [
    ...(recovered > 0 ? [`${recovered} recovered`] : []),
    ...(suppressed > 0 ? [`${suppressed} suppressed by the interval`] : []),
    ...disabled,
  ];
  const lines = one.occurrences.map(({ outcome, at, reason, notifications }) => {
    const isSent = notifications.some(({ deliveryId }) => deliveryId !== '');
    return `  ${timeOf(at)}  ${outcomeOf(outcome).padEnd(9)}  ${isSent ? 'sent      ' : 'suppressed'}  ${reason}`;
  });
  const left = Number(one.fired) + recovered - one.occurrences.length;
  const rest = left > 0 ? [`  … ${left} more: --limit sets how many are shown`] : [];
  return [[head, ...more].join('; '), ...lines, ...rest].join('\n');
}

function outcomeOf(outcome: TriggerOutcome): string {
  return outcome === TriggerOutcome.RECOVERED ? 'recovered' : 'fired';
}
