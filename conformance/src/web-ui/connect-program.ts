/** The overview of a machine: code that connects to it, with a key that reaches only it. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { Peer } from '../clients/grpc-peer.ts';
import { shotPath } from '../open-browser.ts';
import type { RunningUi } from './start-ui.ts';

/** A folder in which programs find the SDK. */
const cwd = fileURLToPath(new URL('..', import.meta.url));

/** The code that is shown for a new key works, and the key has a role on nothing else. @param resource of the machine */
export async function connectProgram({ page, cloud }: RunningUi, resource: string): Promise<void> {
  const panel = page.getByRole('region', { name: 'Connect a program' });
  const { port } = new URL(cloud.url);
  await panel.getByText(`${cloud.partId}.machines.internal:${port}`, { exact: true }).waitFor();
  await panel.getByRole('button', { name: 'On its network' }).click();
  await panel.getByText(`at_address("${cloud.partId}.local", options)`).waitFor();
  await panel.getByRole('button', { name: 'Through the cloud' }).click();
  await panel.getByRole('button', { name: 'Create a key of this machine' }).click();
  await panel.getByText('Copy the key now').waitFor();
  await panel.getByRole('button', { name: 'Go', exact: true }).click();
  await panel.getByText('rpc.WithEntityCredentials').waitFor();
  await panel.getByRole('button', { name: 'TypeScript' }).click();
  const code = (await panel.getByText('openCloud({').textContent()) ?? '';
  const ran = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8', cwd });
  expect(ran.stdout + ran.stderr).toContain(resource);
  const keyId = /keyId: '([^']+)'/.exec(code)?.[1] ?? '';
  const key = /key: '([^']+)'/.exec(code)?.[1] ?? '';
  using program = await new Peer(cloud.target).signIn(keyId, 'api-key', key);
  const asked = program.call('platform.app.v1.AppService', 'ListOrganizationMembers', {
    organization_id: cloud.organizationId,
  });
  await expect(asked).rejects.toMatchObject({ code: 7 });
  await page.screenshot({ path: shotPath('web-connect-program.png'), fullPage: true });
  await panel.getByRole('button', { name: 'I have copied it' }).click();
  await panel.getByText('api_key_id="KEY_ID"').waitFor();
}
