/** The overview: the version of each module, and why the configured one is not in use. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { writeTestModule } from '../../../apps/machine-server/src/testing/modules/write-module.ts';
import { openCommandLine } from '../cli/command-line.ts';
import { Peer } from '../clients/grpc-peer.ts';
import { shotPath } from '../open-browser.ts';
import { accessibilityFaults, type RunningUi } from './start-ui.ts';

/** Starts on the overview of the machine. @param components the machine keeps them */
export async function showModules({ page, cloud }: RunningUi, components: readonly object[]): Promise<void> {
  await using cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  const folder = join(cli.directory, 'greeter');
  await writeTestModule(folder);
  writeFileSync(join(folder, 'meta.json'), JSON.stringify({ module_id: 'me:greeter', entrypoint: 'module.sh' }));
  const upload = ['module', 'upload', 'greeter', '--version', '1.0.0', '--organization', cloud.organizationId];
  const uploaded = await cli.ok(upload);
  const module = JSON.parse(/\{"type":"registry".*\}/.exec(uploaded.stderr)?.[0] ?? '{}') as object;
  using peer = await new Peer(cloud.target).signIn(cloud.keyId, 'api-key', cloud.key);
  const configure = (version: string) =>
    peer.call('platform.app.v1.AppService', 'UpdateRobotPart', {
      id: cloud.partId,
      robot_config_json: JSON.stringify({ components, modules: [{ ...module, version }] }),
    });
  const modules = page.getByRole('region', { name: 'Table of modules' });
  await configure('1.0.0');
  await modules.getByRole('row', { name: /^\S* ?Ready greeter 1\.0\.0 *$/ }).waitFor();
  await configure('7.0.0');
  const reason = /^\S* ?Ready greeter 1\.0\.0 runs 1\.0\.0, not 7\.0\.0: .*found "7\.0\.0"/;
  await modules.getByRole('row', { name: reason }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-modules.png'), fullPage: true });
}
