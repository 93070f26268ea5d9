/** Makes another organization bill the organization of a cloud, so that it can be charged. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCommandLine } from '../cli/command-line.ts';
import { Peer } from '../clients/grpc-peer.ts';
import type { CloudProcess } from '../start-cloud.ts';

const address = { address_line_1: 'Mill Lane 1', city: 'Porto', zipcode: '4000', country: 'PT' };
const prices = { currency: 'EUR', tiers: [{ name: 'standard', in_arrears: true, per_machine: '10' }] };

/** @param cloud a cloud with the payment provider `test` */
export async function billOrganization(cloud: CloudProcess): Promise<void> {
  await using cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
    PLATFORM_ORGANIZATION: cloud.organizationId,
  });
  using peer = await new Peer(cloud.target).signIn(cloud.keyId, 'api-key', cloud.key);
  const biller = (await cli.ok(['organizations', 'create', 'Host', '--json'])).json<{ id: string }>().id;
  await peer.call('platform.app.v1.AppService', 'EnableBillingService', { org_id: biller, billing_address: address });
  writeFileSync(join(cli.directory, 'prices.json'), JSON.stringify(prices));
  await cli.ok(['billing', 'prices', 'set', 'prices.json', '--organization', biller]);
  const data = ['--data', cloud.dataDir];
  await cli.ok(['admin', 'billing', 'assign', cloud.organizationId, '--biller', biller, '--tier', 'standard', ...data]);
}
