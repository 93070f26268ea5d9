import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../testing/open-first-account.ts';
import { rotateWebhookSecret, webhookSecrets } from './webhook-secrets.ts';

const day = 86_400_000;
const by = { kind: 'admin', name: 'root' } as const;

async function given() {
  const { db, tree, instanceKey, organizationId } = await openFirstAccount();
  const clock = new FakeClock();
  return { db, organizationId, clock, deps: { db, tree, instanceKey, clock } };
}

test('after a rotation the new and the former secret sign until the overlap ends; both are sealed', async () => {
  const { deps, clock, db, organizationId } = await given();
  const secrets = async (): Promise<string[]> =>
    (await webhookSecrets(deps, organizationId)).map(({ secret }) => secret);
  const [first = ''] = await secrets();
  await rotateWebhookSecret(deps, by, organizationId, day);
  const [second = '', former] = await secrets();
  expect([second, former]).toEqual([expect.stringMatching(/^whsec_/), first]);
  expect(second).not.toBe(first);
  const [row] = await db.selectFrom('former_webhook_secrets').selectAll().execute();
  expect(Buffer.from(row?.secret ?? []).includes(first)).toBe(false);
  clock.setWall(clock.now() + day);
  expect(await secrets()).toEqual([second]);
});

test('a rotation without overlap ends all former secrets; at most four overlap', async () => {
  const { deps, clock, organizationId } = await given();
  for (let n = 1; n <= 4; n++) {
    clock.setWall(clock.now() + 1);
    await rotateWebhookSecret(deps, by, organizationId, day);
  }
  expect(await webhookSecrets(deps, organizationId)).toHaveLength(5);
  await expect(rotateWebhookSecret(deps, by, organizationId, day)).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  await rotateWebhookSecret(deps, by, organizationId, 0);
  expect(await webhookSecrets(deps, organizationId)).toHaveLength(1);
  for (const wrong of [-1, 0.5, 400 * day, Number.NaN])
    await expect(rotateWebhookSecret(deps, by, organizationId, wrong)).rejects.toMatchObject({
      code: 'invalid_argument',
    });
});
