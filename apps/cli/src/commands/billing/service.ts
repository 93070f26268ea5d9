/** `platform billing service`: whether the organization bills others, and the address on its invoices. */
import { Command } from 'commander';
import { defineCommand, group } from '../../invocation/define-command.ts';

const fields = ['organization_id', 'address_line_1', 'address_line_2', 'city', 'state', 'zipcode', 'country'];

export function serviceCommand(): Command {
  return group('service', 'whether the organization bills others, and the address on its invoices', [
    get(),
    enable(),
    update(),
    disable(),
  ]);
}

function get(): Command {
  return defineCommand(
    new Command('get').description('show the address on the invoices of the organization'),
    { examples: ['platform billing service get'], fields },
    async ({ cloud, out, find }) => {
      const { id: orgId } = await find.organization(undefined);
      const { billingAddress } = await (await cloud()).app.getBillingServiceConfig({ orgId });
      out.object({
        organization_id: orgId,
        address_line_1: billingAddress?.addressLine1 || null,
        address_line_2: billingAddress?.addressLine2 || null,
        city: billingAddress?.city || null,
        state: billingAddress?.state || null,
        zipcode: billingAddress?.zipcode || null,
        country: billingAddress?.country || null,
      });
    },
  );
}

/** A command with the options of an address. */
function withAddress(command: Command): Command {
  return command
    .requiredOption('--address <line>', 'street and number')
    .option('--address-2 <line>', 'second line')
    .requiredOption('--city <name>', 'city')
    .option('--state <name>', 'state or region')
    .requiredOption('--zipcode <code>', 'postal code')
    .requiredOption('--country <code>', 'such as PT');
}

function addressOf(flags: Readonly<Record<string, unknown>>): {
  addressLine1: string;
  addressLine2?: string;
  city: string;
  state: string;
  zipcode: string;
  country: string;
} {
  const text = (name: string): string => String(flags[name] ?? '');
  return {
    addressLine1: text('address'),
    ...(flags['address2'] !== undefined && { addressLine2: text('address2') }),
    ...{ city: text('city'), state: text('state'), zipcode: text('zipcode'), country: text('country') },
  };
}

function enable(): Command {
  return defineCommand(
    withAddress(new Command('enable').description('let the organization bill others')),
    { examples: ['platform billing service enable --address "Mill Lane 1" --city Porto --zipcode 4000 --country PT'] },
    async ({ cloud, out, find }, flags) => {
      const { id: orgId, name } = await find.organization(undefined);
      await (await cloud()).app.enableBillingService({ orgId, billingAddress: addressOf(flags) });
      out.note(
        `the organization "${name}" can bill others now: set its prices (platform billing prices set), then the host administrator says whom it bills (platform admin billing assign)`,
      );
    },
  );
}

function update(): Command {
  return defineCommand(
    withAddress(new Command('update').description('change the address on future invoices')),
    { examples: ['platform billing service update --address "Mill Lane 2" --city Porto --zipcode 4000 --country PT'] },
    async ({ cloud, out, find }, flags) => {
      const { id: orgId } = await find.organization(undefined);
      await (await cloud()).app.updateBillingService({ orgId, billingAddress: addressOf(flags) });
      out.note('the address is changed');
    },
  );
}

function disable(): Command {
  return defineCommand(
    new Command('disable').description('no longer let the organization set prices for others'),
    { examples: ['platform billing service disable --yes'] },
    async ({ cloud, out, find, confirm }) => {
      const { id: orgId, name } = await find.organization(undefined);
      await confirm(`Disable the billing service of the organization "${name}"?`);
      await (await cloud()).app.disableBillingService({ orgId });
      out.note('the billing service is disabled');
    },
  );
}
