/** `platform organizations webhook-secret`: the keys that sign an organization's webhooks. */
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, group } from '../invocation/define-command.ts';
import { wholeNumber } from '../invocation/whole-number.ts';
import { presenter, timeOf } from '../results/presenters.ts';

interface WebhookSecret {
  readonly secret: string;
  readonly endsAt?: Parameters<typeof timeOf>[0];
}

const { fields, shape } = presenter<WebhookSecret>({
  secret: (one) => one.secret,
  ends_at: (one) => timeOf(one.endsAt),
});

export function webhookSecretCommand(): Command {
  return group('webhook-secret', 'the secret that signs webhooks; for owners', [get(), rotate()]);
}

/** Enough to recognise a secret, too little to use it. */
function masked(rows: readonly JsonObject[]): JsonObject[] {
  return rows.map((row) => ({ ...row, secret: `${String(row['secret']).slice(0, 9)}…` }));
}

function get(): Command {
  return defineCommand(
    new Command('get')
      .description('show the secrets that sign webhooks now, the current one first')
      .option('--reveal', 'show the secrets instead of their first characters'),
    { examples: ['platform organizations webhook-secret get --reveal'], fields },
    async ({ cloud, out, find }, flags) => {
      const { id: organizationId } = await find.organization(undefined);
      const { secrets } = await (await cloud()).fleet.getWebhookSecrets({ organizationId });
      const rows = secrets.map(shape);
      out.rows(flags['reveal'] === true ? rows : masked(rows), fields);
      if (flags['reveal'] !== true) out.note('add --reveal to show the secrets');
    },
  );
}

function rotate(): Command {
  return defineCommand(
    new Command('rotate')
      .description('replace the secret; the previous one also signs for a while')
      .option('--overlap <hours>', 'how long the previous secret also signs; 0: not at all', '168'),
    { examples: ['platform organizations webhook-secret rotate --overlap 24'], fields },
    async ({ cloud, out, find, confirm }, flags) => {
      const { id: organizationId, name } = await find.organization(undefined);
      const hours = wholeNumber(flags['overlap'], '--overlap') ?? 0;
      if (hours === 0)
        await confirm(
          `Replace the secret that signs webhooks of "${name}"? Receivers refuse them until they have the new one.`,
        );
      const { secrets } = await (await cloud()).fleet.rotateWebhookSecret({
        organizationId,
        overlapSeconds: hours * 3_600,
      });
      out.rows(masked(secrets.map(shape)), fields);
      out.note('give the new one to the receivers: platform organizations webhook-secret get --reveal');
    },
  );
}
