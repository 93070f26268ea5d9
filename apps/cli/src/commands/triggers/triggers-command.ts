/** `platform triggers`: the state of the triggers in the configurations of machines. */
import type { Trigger } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choices } from '../../invocation/choice.ts';
import { defineCommand, group } from '../../invocation/define-command.ts';
import { pick } from '../../invocation/find.ts';
import { readPages } from '../../invocation/read-pages.ts';
import { type Scope, scopeOf, scopeOptions } from '../../invocation/scope.ts';
import { limitOf } from '../../invocation/whole-number.ts';
import { partArgument } from '../config/configuration.ts';
import { dryRunCommand } from './dry-run.ts';
import { historyCommand } from './history.ts';
import { testCommand } from './test.ts';
import { triggerResult, triggerRow, triggerStates } from './trigger.ts';
import { validateCommand } from './validate.ts';

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
      new Command('list').description('list triggers with their state: working, disabled, or broken and why'),
    )
      .addOption(choices('--state <states>', 'only in these states, separated by commas', Object.keys(triggerStates)))
      .option('--limit <number>', 'maximum number of triggers', '500'),
    {
      examples: [
        'platform triggers list',
        'platform triggers list --state broken --json=part,name,problems',
        'platform triggers list --location Plant',
      ],
      fields: triggerResult.fields,
    },
    async (context, flags) => {
      const most = limitOf(flags['limit'], '--limit');
      const scope = await scopeOf(context, flags);
      const states = ((flags['state'] ?? []) as readonly string[]).flatMap((name) => triggerStates[name] ?? []);
      const { triggers: service } = await context.cloud();
      const found = await readPages(most + 1, async (room, pageToken = '') => {
        const limit = Math.min(room, pageSize);
        const { triggers, nextPageToken } = await service.listTriggers({ scope, states, limit, pageToken });
        return { items: triggers, nextPageToken };
      });
      const shown = found
        .slice(0, most)
        .toSorted((a, b) => a.machineName.localeCompare(b.machineName) || a.partName.localeCompare(b.partName));
      const { out } = context;
      out.rows(shown.map(out.style.json === false ? triggerRow : triggerResult.shape), [
        'name',
        'part',
        'event_type',
        'state',
        'last_fired_at',
        'targets',
        'problem',
      ]);
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
      context.out.object(triggerResult.shape(pick('trigger', name, named).trigger));
    },
  );
}

async function triggersOf({ cloud }: Parameters<typeof scopeOf>[0], scope: Scope): Promise<Trigger[]> {
  const { triggers: service } = await cloud();
  return await readPages(Number.POSITIVE_INFINITY, async (_room, pageToken = '') => {
    const { triggers, nextPageToken } = await service.listTriggers({ scope, limit: pageSize, pageToken });
    return { items: triggers, nextPageToken };
  });
}
