import { gzipSync } from 'node:zlib';
import { appApi } from '@viamrobotics/sdk';
import { expect, test } from 'vitest';
import type { Answer } from '../clients/grpc-peer.ts';
import { appService, codeOf } from './watch.ts';
import { Code, expectRefused, type World } from './world.ts';

const model = { api: 'rdk:component:sensor', model: 'acme:press:load' };
const documented = {
  ...model,
  markdown_documentation: '# load',
  description: 'the load',
  supported_hardware: ['a press'],
};
const page = {
  name: 'page',
  type: 'single_machine',
  entrypoint: 'index.html',
  fragment_ids: ['f'],
  logo_path: 'logo.png',
  customizations: { machine_picker: { heading: 'one', subheading: 'two' } },
  allowed_org_ids: { ids: ['o'] },
};

export function moduleTests(world: () => World): void {
  /** UploadModuleFile is a stream, for which the public package has no call. */
  async function upload(module_id: string, version: string, file: Buffer): Promise<Answer> {
    const { owner, watch } = world();
    const info = { module_id, version, platform: 'linux/amd64' };
    try {
      const answer = await owner.peer.send(appService, 'UploadModuleFile', [{ module_file_info: info }, { file }]);
      watch.ended('grpc-js', 'UploadModuleFile', 0);
      if (answer['url'] !== '') watch.filled.add('UploadModuleFileResponse.url');
      return answer;
    } catch (caught) {
      watch.ended('grpc-js', 'UploadModuleFile', codeOf(caught));
      throw caught;
    }
  }

  test('is created, described, uploaded as the public command line does, read, and listed', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    const organization = await app.getOrganization(cloud.organizationId);
    const { moduleId } = await app.createModule(cloud.organizationId, 'load-cell');
    expect(moduleId).toBe(`${organization?.publicNamespace || cloud.organizationId}:load-cell`);
    await expectRefused(app.createModule(cloud.organizationId, 'load-cell'), Code.alreadyExists, /load-cell/);
    await app.updateModule(moduleId, appApi.Visibility.PUBLIC, 'https://example.com', 'a sensor', [], 'run.sh');
    await owner.ask('UpdateModule', {
      ...{ module_id: moduleId, url: 'https://example.com', description: 'a sensor', entrypoint: 'bin/run' },
      ...{ models: [documented], apps: [page], first_run: 'setup.sh', markdown_description: '# Load cell' },
    });
    const archive = gzipSync('a module');
    const { url } = await upload(moduleId, '1.0.0', archive);
    expect(await upload(moduleId, '1.0.0', archive)).toEqual({ url });
    await expectRefused(upload(moduleId, '1.0.0', gzipSync('another')), Code.alreadyExists, /never changes/);
    const key = { key_id: cloud.keyId, key: cloud.key };
    const got = await fetch(String(url), { headers: key });
    expect(Buffer.from(await got.arrayBuffer())).toEqual(archive);

    const module = await app.getModule(moduleId);
    expect(module).toMatchObject({
      ...{ moduleId, name: 'load-cell', organizationId: cloud.organizationId, visibility: appApi.Visibility.PRIVATE },
      ...{ entrypoint: 'bin/run', description: 'a sensor', url: 'https://example.com', firstRun: 'setup.sh' },
      models: [model],
      versions: [{ version: '1.0.0', entrypoint: 'bin/run', files: [{ platform: 'linux/amd64' }], models: [model] }],
    });
    expect(module?.markdownDescription).toBeUndefined();
    expect(await app.listModules(cloud.organizationId)).toEqual([module]);
    const whole = await owner.ask('GetModule', { module_id: moduleId, include_markdown_documentation: true });
    expect(whole).toMatchObject({ module: { markdown_description: '# Load cell', models: [documented] } });
  });

  test('unknown modules and organizations are refused', async () => {
    const { owner, cloud } = world();
    const unknown = `${cloud.organizationId}:nothing`;
    await expectRefused(owner.app.getModule(unknown), Code.notFound, /module/);
    await expectRefused(owner.ask('UpdateModule', { module_id: unknown }), Code.notFound, /create it first/);
    await expectRefused(owner.ask('ListModules', { organization_id: 'nobody' }), Code.notFound, /organization/);
    await expectRefused(upload('nobody:nothing', '1.0.0', gzipSync('a module')), Code.notFound, /module/);
  });
}
