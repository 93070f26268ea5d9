/** `platform billing method`: the organization's payment methods. */
import { PlatformError, TestCard } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, group } from '../../invocation/define-command.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { timeOf } from '../../results/presenters.ts';

const cards: Readonly<Record<string, TestCard>> = {
  succeeds: TestCard.SUCCEEDS,
  declines: TestCard.DECLINES,
  'confirms-late': TestCard.CONFIRMS_LATE,
  'never-confirms': TestCard.NEVER_CONFIRMS,
};

export function methodCommand(): Command {
  return group('method', 'payment method of the organization', [add(), set(), remove()]);
}

function add(): Command {
  return defineCommand(
    new Command('add').description(
      'print the address of a page on which to attach a card, which replaces the current payment method; only with the payment provider "stripe"',
    ),
    { examples: ['platform billing method add'], fields: ['url', 'expires_at'] },
    async ({ cloud, out, find }) => {
      const { id: organizationId } = await find.organization(undefined);
      const { url, expiresAt } = await (await cloud()).invoices.beginPaymentMethodSetup({ organizationId });
      out.object({ url, expires_at: timeOf(expiresAt) });
      out.note('open the page in a browser; platform billing info shows the card once it is attached');
    },
  );
}

function set(): Command {
  return defineCommand(
    new Command('set')
      .description(
        'attach a test card, which replaces the current payment method; only with the payment provider "test"',
      )
      .argument('<card>', Object.keys(cards).join(', '))
      .option('--after <seconds>', 'when payments with confirms-late are confirmed', '60'),
    { examples: ['platform billing method set succeeds'] },
    async ({ cloud, out, find }, flags, name = '') => {
      const card = cards[name];
      if (card === undefined)
        throw new PlatformError(
          'invalid_argument',
          `card: expected one of ${Object.keys(cards).join(', ')}, found "${name}"`,
        );
      const { id: organizationId } = await find.organization(undefined);
      const confirmAfterSeconds = wholeNumber(flags['after'], '--after') ?? 0;
      await (await cloud()).invoices.attachTestCard({ organizationId, card, confirmAfterSeconds });
      out.note('the card is attached');
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete').description('remove the payment method of the organization'),
    { examples: ['platform billing method delete --yes'] },
    async ({ cloud, out, find, confirm }) => {
      const { id: organizationId, name } = await find.organization(undefined);
      await confirm(`Remove the payment method of the organization "${name}"?`);
      await (await cloud()).invoices.removePaymentMethod({ organizationId });
      out.note('the payment method is removed');
    },
  );
}
