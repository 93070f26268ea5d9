/** `platform triggers`: the state of the triggers in the configurations of machines. */
import { failedPrecondition } from '@platform/base/refusals';
import { type JsonObject, TargetState, type Trigger, TriggerState } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choices } from '../../invocation/choice.ts';
import { defineCommand, group } from '../../invocation/define-command.ts';
import { pick } from '../../invocation/find.ts';
import { readPages } from '../../invocation/read-pages.ts';
import { type Scope, scopeOf, scopeOptions } from '../../invocation/scope.ts';
import { limitOf } from '../../invocation/whole-number.ts';
import { type Presenter, presenter, timeOf } from '../../results/presenters.ts';
import { withHints } from '../../results/with-hints.ts';
import { partArgument } from '../config/configuration.ts';
import { readDraft } from './draft-file.ts';
import { dryRunCommand } from './dry-run.ts';
import { historyCommand } from './history.ts';
import { testCommand } from './test.ts';

export function triggersCommand(): Command {
  return group('triggers', 'the alerts that machines are configured to send', [
    list(),
    get(),
    historyCommand(),
    dryRunCommand(),
    validateCommand(),
    testCommand(),
  ]).alias('trigger');
}

const pageSize = 500;

function list(): Command {
  return defineCommand(
    scopeOptions(
      new Command('list').description(
        'list triggers with their state: whether they can fire, and whether their targets get the notifications',
      ),
    )
      .addOption(choices('--state <states>', 'only in these states, separated by commas', Object.keys(triggerStates)))
      .option('--limit <number>', 'maximum number of triggers', '500'),
    {
      examples: [
        'platform triggers list',
        'platform triggers list --state broken,failing,refused --json=part,name,problems,notifications',
        'platform triggers list --location Plant',
      ],
      fields: triggerResult.fields,
    },
    async (context, flags) => {
      const most = limitOf(flags['limit'], '--limit');
      const scope = await scopeOf(context, flags);
      const states = ((flags['state'] ?? []) as readonly string[]).flatMap((name) => triggerStates[name] ?? []);
      const { triggers: service } = await context.cloud();
      const found = await readPages(most + 1, pageSize, async (limit, pageToken) => {
        const { triggers, nextPageToken } = await service.listTriggers({ scope, states, limit, pageToken });
        return { items: triggers, nextPageToken };
      });
      const shown = found
        .slice(0, most)
        .toSorted((a, b) => a.machineName.localeCompare(b.machineName) || a.partName.localeCompare(b.partName));
      const { out } = context;
      const rows = shown.map(out.style.json === false ? triggerRow : triggerResult.shape);
      out.rows(
        rows.map((row) => withHints(out, row)),
        ['name', 'part', 'event_type', 'state', 'last_fired_at', 'targets', 'problem'],
      );
      if (found.length > most) out.note(`${most} shown, and there are more: --limit sets how many`);
    },
  );
}

function get(): Command {
  return defineCommand(
    new Command('get')
      .alias('show')
      .description(
        'show a trigger of a part: its event, its notifications, its state, what is wrong with it, and when it fired last',
      )
      .argument(...partArgument)
      .argument('<name>', 'of the trigger'),
    {
      examples: ['platform triggers get press-7 overheated', 'platform triggers get press-7 overheated --json'],
      fields: triggerResult.fields,
    },
    async (context, _flags, text = '', name = '') => {
      const part = await context.find.part(text);
      const all = await triggersOf(context, { case: 'partId', value: part.id });
      const named = all.map((trigger) => ({ id: trigger.name, name: trigger.name, trigger }));
      context.out.object(withHints(context.out, triggerResult.shape(pick('trigger', name, named).trigger)));
    },
  );
}

async function triggersOf({ cloud }: Parameters<typeof scopeOf>[0], scope: Scope): Promise<Trigger[]> {
  const { triggers: service } = await cloud();
  return await readPages(Number.POSITIVE_INFINITY, pageSize, async (limit, pageToken) => {
    const { triggers, nextPageToken } = await service.listTriggers({ scope, limit, pageToken });
    return { items: triggers, nextPageToken };
  });
}

/** Triggers as results. */
export const triggerStates: Readonly<Record<string, TriggerState>> = {
  working: TriggerState.WORKING,
  disabled: TriggerState.DISABLED,
  broken: TriggerState.BROKEN,
  refused: TriggerState.REFUSED,
  failing: TriggerState.FAILING,
  paused: TriggerState.PAUSED,
  kept: TriggerState.KEPT,
};

const triggerResult: Presenter<Trigger> = presenter<Trigger>({
  name: (one) => one.name || null,
  part: (one) => `${one.machineName}/${one.partName}`,
  event_type: (one) => one.eventType || null,
  state: (one) => Object.keys(triggerStates).find((name) => triggerStates[name] === one.state) ?? String(one.state),
  last_fired_at: (one) => timeOf(one.lastFiredAt),
  problems: (one) => one.problems.map(({ severity, path, message }) => ({ severity, path, message })),
  event: (one) => one.event ?? null,
  notifications: (one) => one.notifications.map(notificationOf),
  path: (one) => one.path,
  part_id: (one) => one.partId,
  machine_id: (one) => one.machineId,
});

/** What happens at a target; absent: nothing was sent. */
export const targetStates: Readonly<Partial<Record<TargetState, string>>> = {
  [TargetState.DELIVERED]: 'delivered',
  [TargetState.KEPT]: 'kept',
  [TargetState.FAILING]: 'failing',
  [TargetState.REFUSED]: 'refused',
  [TargetState.PAUSED]: 'paused',
};

function notificationOf(one: Trigger['notifications'][number]): JsonObject {
  return {
    channel: one.channel,
    target: one.target,
    interval_seconds: one.intervalSeconds,
    application: one.application || null,
    has_basic_auth: one.hasBasicAuth,
    state: targetStates[one.state] ?? null,
    reason: one.reason || null,
    last_attempt_at: timeOf(one.lastAttemptAt),
    last_delivered_at: timeOf(one.lastDeliveredAt),
    last_delivery_id: one.lastDeliveryId || null,
  };
}

/** Why it is in its state: the first of its errors or of its targets that gets nothing; without any, the first warning. */
export function problemOf({ problems, notifications }: Pick<Trigger, 'problems' | 'notifications'>): string | null {
  const error = problems.find(({ severity }) => severity === 'error')?.message;
  const reason = notifications.find((one) => one.reason !== '')?.reason;
  return error ?? reason ?? problems[0]?.message ?? null;
}

/** The columns of a table. */
function triggerRow(one: Trigger): JsonObject {
  return {
    ...triggerResult.shape(one),
    targets: one.notifications
      .map(({ channel, target, state }) => {
        const word = targetStates[state];
        return `${channel} ${target}${word === undefined ? '' : ` (${word})`}`;
      })
      .join(', '),
    problem: problemOf(one),
  };
}

const { fields, shape } = presenter<{ severity: string; path: string; message: string }>({
  severity: (one) => one.severity,
  path: (one) => one.path,
  message: (one) => one.message,
});

/** `platform triggers validate`: the problems of triggers before they are saved. */
function validateCommand(): Command {
  return defineCommand(
    new Command('validate')
      .description('check triggers for mistakes without saving them')
      .argument(...partArgument)
      .argument('<file>', 'triggers, one trigger, or a configuration with triggers, as JSON; - reads standard input'),
    {
      examples: ['platform triggers validate press-7 triggers.json'],
      fields,
    },
    async ({ cloud, find, out, invocation }, _flags, part = '', file = '') => {
      const { id: partId } = await find.part(part);
      const triggers = await readDraft(file, invocation);
      const { problems } = await (await cloud()).triggers.validateTriggers({ partId, triggers });
      if (problems.length > 0 || out.style.json !== false)
        out.rows(
          problems.map((one) => withHints(out, shape(one))),
          fields,
        );
      const errors = problems.filter(({ severity }) => severity === 'error').length;
      if (errors > 0) throw failedPrecondition(`expected triggers without errors, found ${errors}`);
      out.note(`${triggers.length} ${triggers.length === 1 ? 'trigger' : 'triggers'}: no errors`);
    },
  );
}
