/** The connect page of a machine: programs that connect to it, with a key that reaches only it. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { Peer } from '../clients/grpc-peer.ts';
import { shotPath } from '../open-browser.ts';
import { accessibilityFaults, type RunningUi } from './start-ui.ts';

/** A folder in which programs find the SDK. */
const cwd = fileURLToPath(new URL('..', import.meta.url));

/**
 * The programs that are shown for a new key work, and the key has a role on nothing else. Begins and ends on the overview of the machine.
 *
 * @param resource of the machine
 */
export async function connectProgram({ page, cloud }: RunningUi, resource: string): Promise<void> {
  await page.getByRole('link', { name: 'Connect', exact: true }).click();
  const panel = page.getByRole('region', { name: 'Connect a program' });
  const { port } = new URL(cloud.url);
  await panel.getByText(`${cloud.partId}.machines.internal:${port}`, { exact: true }).waitFor();
  await panel.getByRole('button', { name: 'On its network' }).click();
  await panel.getByText(`at_address("${cloud.partId}.local", options)`).waitFor();
  await panel.getByRole('button', { name: 'Through the cloud' }).click();
  await panel.getByText('get_readings').waitFor();
  await panel.getByRole('button', { name: 'Go', exact: true }).click();
  await panel.getByText('rpc.WithEntityCredentials("KEY_ID"').waitFor();
  await panel.getByRole('button', { name: 'TypeScript (Node)' }).click();
  await panel.getByRole('button', { name: 'Create a key of this machine' }).click();
  await panel.getByText('Copy the key now').waitFor();
  // The language stays, with the key filled in.
  const code = (await panel.getByText('openCloud({').textContent()) ?? '';
  const keyId = /keyId: "([^"]+)"/.exec(code)?.[1] ?? '';
  const key = /key: "([^"]+)"/.exec(code)?.[1] ?? '';
  const node = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8', cwd });
  expect(node.stdout + node.stderr).toContain(resource);
  await panel.getByRole('button', { name: 'curl' }).click();
  const script = (await panel.getByText('# sh machine.sh').textContent()) ?? '';
  const curl = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  expect(curl.stdout + curl.stderr).toContain(resource);
  using program = await new Peer(cloud.target).signIn(keyId, 'api-key', key);
  const asked = program.call('platform.app.v1.AppService', 'ListOrganizationMembers', {
    organization_id: cloud.organizationId,
  });
  await expect(asked).rejects.toMatchObject({ code: 7 });
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-connect-program.png'), fullPage: true });
  await panel.getByRole('button', { name: 'I have copied it' }).click();
  await panel.getByText('{"entity":"KEY_ID"').waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('row', { name: new RegExp(`Ready ${resource}`) }).waitFor();
}
