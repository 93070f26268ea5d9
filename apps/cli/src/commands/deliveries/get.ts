import { DeliveryState, type JsonObject, systemClock, timestampMs } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { defineCommand } from '../../invocation/define-command.ts';
import { attemptResult, deliveryResult } from './delivery.ts';

/** An attempt takes at most 15 s. */
const overdueMs = 20_000;

export function getCommand(): Command {
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
      context.out.object(facts);
      showRequest(context, request && `${request.method} ${delivery.target}`, headers, request?.body ?? '');
      context.out.raw('\nAttempts:');
      context.out.rows(delivery.attempts.map(attemptResult.shape), attemptResult.fields);
      const due = delivery.state === DeliveryState.PENDING && delivery.nextAttemptAt;
      if (due && timestampMs(due) < systemClock.now() - overdueMs)
        context.out.note(
          'it is due, and waits because its target keeps failing or is busy: the target is tried with one message at a time',
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
