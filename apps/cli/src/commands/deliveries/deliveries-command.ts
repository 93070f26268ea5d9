/** `platform deliveries`: what triggers sent, to whom, and with what outcome. */
import { failedPrecondition, invalidArgument } from '@platform/base/refusals';
import {
  type DeliveryState,
  type JsonObject,
  type ListDeliveriesResponse,
  type PausedTarget,
  systemClock,
  type timestampFromDate,
} from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choices } from '../../invocation/choice.ts';
import type { Context } from '../../invocation/context.ts';
import { defineCommand, type Flags, group } from '../../invocation/define-command.ts';
import { readPages } from '../../invocation/read-pages.ts';
import { scopeOf, scopeOptions } from '../../invocation/scope.ts';
import { timeRange } from '../../invocation/time-range.ts';
import { limitOf } from '../../invocation/whole-number.ts';
import { presenter, timeOf } from '../../results/presenters.ts';
import { withHints } from '../../results/with-hints.ts';
import { attemptResult, channels, deliveryResult, deliveryRow, deliveryStates, stateName } from './delivery.ts';

export function deliveriesCommand(): Command {
  return group('deliveries', 'notifications that triggers sent in the last 30 days, with every attempt', [
    listCommand(),
    getCommand(),
    retryCommand(),
    replayCommand(),
    pausedCommand(),
    pauseCommand(),
    resumeCommand(),
  ]).alias('delivery');
}

function getCommand(): Command {
  return defineCommand(
    new Command('get')
      .alias('show')
      .description('show a notification: its request and the response to each attempt, without secrets')
      .argument('<id>', 'as "deliveries list" prints it; receivers of webhooks find it in the header webhook-id'),
    {
      examples: ['platform deliveries get msg_0f3a', 'platform deliveries get msg_0f3a --json=request,attempts'],
      fields: [...deliveryResult.fields, 'request'],
    },
    async (context, _flags, id = '') => {
      const { delivery, request } = await (await context.cloud()).triggers.getDelivery({ id });
      if (delivery === undefined) return;
      const headers = Object.entries(request?.headers ?? {}).map(([name, value]): JsonObject => ({ name, value }));
      const sent = request && { method: request.method, headers, body: request.body };
      const shown = deliveryResult.shape(delivery);
      if (context.out.style.json !== false) return context.out.object({ ...shown, request: sent ?? null });
      const { attempts: _attempts, ...facts } = shown;
      context.out.object(withHints(context.out, facts));
      showRequest(context, request && `${request.method} ${delivery.target}`, headers, request?.body ?? '');
      context.out.raw('\nAttempts:');
      context.out.rows(
        delivery.attempts.map((one) => withHints(context.out, attemptResult.shape(one))),
        attemptResult.fields,
      );
    },
  );
}

function showRequest({ out }: Context, line: string | undefined, headers: readonly JsonObject[], body: string): void {
  if (line === undefined) {
    out.raw('\nRequest: its stored event cannot be read');
    return;
  }
  out.raw(['\nRequest:', line, ...headers.map(({ name, value }) => `${name}: ${value}`)].join('\n'));
  if (body !== '') out.raw(`\n${body}`);
}

function retryCommand(): Command {
  return defineCommand(
    new Command('retry')
      .description('send a notification again under the same id; one that waits for its next attempt is sent now')
      .argument('<id>', 'as "deliveries list" prints it'),
    { examples: ['platform deliveries retry msg_0f3a'], fields: deliveryResult.fields },
    async (context, _flags, id = '') => {
      const { delivery } = await (await context.cloud()).triggers.retryDelivery({ id });
      if (delivery === undefined) return;
      const shown = deliveryResult.shape(delivery);
      const { attempts: _attempts, ...facts } = shown;
      context.out.object(context.out.style.json === false ? facts : shown);
      context.out.note(`see the outcome with: platform deliveries get ${id}`);
    },
  );
}

function replayCommand(): Command {
  return defineCommand(
    selectingOptions(
      new Command('replay').description(
        'send the failed notifications of a time range again, under the same ids; says how many, and asks',
      ),
    )
      .addOption(
        choices('--state <states>', 'only in these states, separated by commas (default: failed)', [
          ...['failed', 'kept', 'delivered'],
        ]),
      )
      .option('--max <number>', 'fail if there are more than this', '1000')
      .option('--dry-run', 'only show how many'),
    {
      examples: [
        'platform deliveries replay --since 2h --dry-run',
        'platform deliveries replay --trigger overheated --since 2026-01-02T08:00:00Z --until 2026-01-02T09:00:00Z',
        'platform deliveries replay --part press-7 --since 24h --state failed,delivered --yes',
      ],
      fields: ['deliveries', 'dry_run'],
    },
    async (context, flags) => {
      if (flags['since'] === undefined)
        throw invalidArgument('--since: expected the beginning of the time range, found nothing');
      const maxDeliveries = limitOf(flags['max'], '--max');
      // Without --until, exactly the deliveries that were counted are sent again.
      const filter = deliveryFilter({ until: new Date(systemClock.now()).toISOString(), ...flags });
      const asked = { scope: await scopeOf(context, flags), ...filter, maxDeliveries };
      const { triggers: service } = await context.cloud();
      const { deliveries: found } = await service.replayDeliveries({ ...asked, dryRun: true });
      if (flags['dryRun'] === true) return context.out.object({ deliveries: found, dry_run: true });
      if (found > maxDeliveries)
        throw failedPrecondition(
          `expected at most ${maxDeliveries} notifications, found more; name a shorter time range, or more with --max`,
        );
      if (found > 0) await context.confirm(`Send ${found} notifications again?`);
      const { deliveries } = found === 0 ? { deliveries: 0 } : await service.replayDeliveries(asked);
      context.out.object({ deliveries, dry_run: false });
    },
  );
}

const { fields, shape } = presenter<PausedTarget>({
  target: (one) => one.target,
  paused_at: (one) => timeOf(one.pausedAt),
  waiting: (one) => one.waiting,
  reason: (one) => one.reason,
});

/** `platform deliveries paused|pause|resume`: targets that temporarily get no deliveries. */
function pausedCommand(): Command {
  return defineCommand(
    new Command('paused').description('list the paused targets, and how many notifications wait for each'),
    { examples: ['platform deliveries paused', 'platform deliveries paused --json=target,waiting'], fields },
    async ({ cloud, find, out }) => {
      const { id: organizationId } = await find.organization();
      const { targets } = await (await cloud()).triggers.listPausedTargets({ organizationId });
      out.rows(targets.map(shape), fields);
    },
  );
}

function pauseCommand(): Command {
  return defineCommand(
    new Command('pause')
      .description('stop sending to a target until it is resumed; notifications wait up to 30 days')
      .argument('<target>', 'URL or address, as configured in a trigger')
      .option('--reason <text>', 'shown in the list of paused targets'),
    { examples: ['platform deliveries pause https://hooks.example.com/alerts --reason "moves on Monday"'], fields },
    async ({ cloud, find, out }, flags, target = '') => {
      const { id: organizationId } = await find.organization();
      const reason = String(flags['reason'] ?? '');
      const paused = await (await cloud()).triggers.pauseTarget({ organizationId, target, reason });
      if (paused.target !== undefined) out.object(shape(paused.target));
    },
  );
}

function resumeCommand(): Command {
  return defineCommand(
    new Command('resume')
      .description('resume sending to a target, beginning with the notifications that wait for it')
      .argument('<target>', 'as "deliveries paused" prints it, or as configured'),
    { examples: ['platform deliveries resume https://hooks.example.com/alerts'], fields: ['target', 'deliveries'] },
    async ({ cloud, find, out }, _flags, target = '') => {
      const { id: organizationId } = await find.organization();
      const { deliveries } = await (await cloud()).triggers.resumeTarget({ organizationId, target });
      out.object({ target, deliveries });
    },
  );
}

const pageSize = 200;

type Timestamp = ReturnType<typeof timestampFromDate>;

/** Options that select deliveries, besides their states. */
function selectingOptions(command: Command): Command {
  return scopeOptions(command)
    .option('--trigger <name>', 'only triggers with this name')
    .addOption(choices('--channel <channels>', 'only these channels, separated by commas', channels))
    .option('--since <when>', 'created since this time: a duration such as 24h, or a time')
    .option('--until <when>', 'created before this time: a duration such as 1h, or a time');
}

interface DeliveryFilter {
  readonly triggerName: string;
  readonly states: DeliveryState[];
  readonly channels: string[];
  readonly start?: Timestamp;
  readonly end?: Timestamp;
}

/** Their values as in the requests of the cloud. */
function deliveryFilter(flags: Flags): DeliveryFilter {
  return {
    triggerName: String(flags['trigger'] ?? ''),
    states: ((flags['state'] ?? []) as readonly string[]).flatMap((name) => deliveryStates[name] ?? []),
    channels: [...((flags['channel'] ?? []) as readonly string[])],
    ...timeRange(flags),
  };
}

/** Such as "3 failed, 12 delivered". Empty: none. */
function countsText({ counts, countsArePartial }: Pick<ListDeliveriesResponse, 'counts' | 'countsArePartial'>): string {
  const words = counts.map(({ state, deliveries }) => `${deliveries} ${stateName(state)}`);
  if (words.length === 0) return '';
  return `${countsArePartial ? 'among the newest 10,000: ' : ''}${words.join(', ')}`;
}

function listCommand(): Command {
  return defineCommand(
    selectingOptions(new Command('list').description('list notifications, newest first, with their attempts'))
      .addOption(choices('--state <states>', 'only in these states, separated by commas', Object.keys(deliveryStates)))
      .option(
        '--text <text>',
        'only with this text in the name of machine, part or trigger, the target, the event type or the id',
      )
      .option('--limit <number>', 'maximum number of deliveries', '50'),
    {
      examples: [
        'platform deliveries list',
        'platform deliveries list --machine press-7 --state failed,kept --since 24h',
        'platform deliveries list --text ada@example.com',
        'platform deliveries list --trigger overheated --json=id,target,state,attempts',
      ],
      fields: deliveryResult.fields,
    },
    async (context, flags) => {
      const most = limitOf(flags['limit'], '--limit');
      const asked = {
        scope: await scopeOf(context, flags),
        ...deliveryFilter(flags),
        text: String(flags['text'] ?? ''),
      };
      const { triggers: service } = await context.cloud();
      let counted = '';
      const found = await readPages(most + 1, pageSize, async (limit, pageToken) => {
        const withCounts = pageToken === '';
        const answer = await service.listDeliveries({ ...asked, limit, pageToken, withCounts });
        if (withCounts) counted = countsText(answer);
        return { items: answer.deliveries, nextPageToken: answer.nextPageToken };
      });
      const { out } = context;
      const rows = found.slice(0, most).map(out.style.json === false ? deliveryRow : deliveryResult.shape);
      out.rows(
        rows.map((row) => withHints(out, row)),
        [
          ...['created_at', 'machine', 'trigger', 'channel', 'target', 'state'],
          ...['attempts', 'answer', 'next_attempt_at', 'id'],
        ],
      );
      if (counted !== '') out.note(counted);
      if (found.length > most) out.note(`${most} shown, and there are more: --limit sets how many`);
    },
  );
}
