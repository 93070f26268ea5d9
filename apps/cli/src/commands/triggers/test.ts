/** `platform triggers test`: sends one notification of a trigger, marked as a test, and shows the outcome. */
import { failedPrecondition, invalidArgument } from '@platform/base/refusals';
import { type Delivery, DeliveryState } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { presenter, timeOf } from '../../results/presenters.ts';
import { withHints } from '../../results/with-hints.ts';
import type { Invocation } from '../../settings.ts';
import { partArgument } from '../config/configuration.ts';
import { stateName } from '../deliveries/delivery.ts';
import { readDraft } from './draft-file.ts';

const { fields, shape } = presenter<Delivery>({
  id: (one) => one.id,
  channel: (one) => one.channel,
  target: (one) => one.target,
  state: ({ state }) => stateName(state),
  code: (one) => one.attempts.at(-1)?.code ?? 0,
  error: (one) => one.attempts.at(-1)?.error ?? '',
  waits_because: (one) => one.waitsBecause || null,
  next_attempt_at: (one) => timeOf(one.nextAttemptAt),
  response: (one) => one.attempts.at(-1)?.response ?? '',
});

export function testCommand(): Command {
  return defineCommand(
    new Command('test')
      .description('send one notification of a trigger now, marked as a test, and show what the target answers')
      .argument(...partArgument)
      .argument('[trigger]', 'name of a saved trigger, or of one in --file')
      .option('--file <file>', 'a trigger that is not saved yet, as JSON; - reads standard input')
      .option('--notification <number>', 'number of the notification to send, counted from 1', '1'),
    {
      examples: [
        'platform triggers test press-7 hot',
        'platform triggers test press-7 --file draft.json --notification 2',
      ],
      fields,
    },
    async (context, flags, part = '', name) => {
      const { id: partId } = await context.find.part(part);
      const { triggers } = await context.cloud();
      const number = wholeNumber(flags['notification'], '--notification') ?? 0;
      if (number < 1) throw invalidArgument('--notification: expected a number from 1, found 0');
      const trigger = await askedFor(context.invocation, name, flags['file'] as string | undefined);
      const { deliveries } = await triggers.testTrigger({ partId, trigger, notification: number - 1 });
      context.out.rows(
        deliveries.map((one) => withHints(context.out, shape(one))),
        fields,
      );
      const bad = deliveries.filter(({ state }) => state !== DeliveryState.DELIVERED);
      if (bad.length > 0)
        throw failedPrecondition(
          `expected the notification to be delivered, found ${bad.map((one) => `${one.target}: ${outcomeOf(one)}`).join('; ')}`,
        );
    },
  );
}

async function askedFor(invocation: Invocation, name: string | undefined, file: string | undefined) {
  if (file === undefined && name === undefined)
    throw invalidArgument('expected the name of a trigger, or --file, found neither');
  if (file === undefined) return { case: 'name', value: name ?? '' } as const;
  const draft = await readDraft(file, invocation);
  const found = name === undefined && draft.length === 1 ? draft[0] : draft.find((one) => one['name'] === name);
  if (found !== undefined) return { case: 'draft', value: found } as const;
  throw invalidArgument(
    `${file}: expected ${name === undefined ? 'one trigger, or the name of one' : `a trigger named "${name}"`}, found ${draft.map((one) => String(one['name'])).join(', ')}`,
  );
}

/** What became of it, other than that it was delivered. */
function outcomeOf({ state, attempts, waitsBecause }: Delivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return `no answer yet: ${waitsBecause}`;
  const more = last.error || last.response;
  return more.startsWith(stateName(state)) ? more : `${stateName(state)}: ${more}`;
}
