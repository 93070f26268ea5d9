import { appApi } from '@viamrobotics/sdk';
import { expect, test } from 'vitest';
import { type Listed, Struct } from './package-types.ts';
import { Code, expectRecent, expectRecentSeconds, expectRefused, unknownId, type World } from './world.ts';

const { FragmentVisibility } = appApi;

const motor = (rpm: number) => ({
  components: [{ name: 'motor', api: 'rdk:component:motor', model: 'rdk:builtin:fake', attributes: { rpm } }],
});

export function fragmentTests(world: () => World): void {
  const create = async (name: string, config: object = motor(1)): Promise<string> => {
    const { owner, cloud } = world();
    return (await owner.app.createFragment(cloud.organizationId, name, Struct.fromJson(config as never)))?.id ?? '';
  };

  test('is created private, read, listed, changed with a new revision, and deleted', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    await owner.ask('UpdateOrganizationNamespace', {
      organization_id: cloud.organizationId,
      new_public_namespace: 'demo-works',
    });
    const created = await app.createFragment(cloud.organizationId, ' Motors ', Struct.fromJson(motor(1)));
    const id = created?.id ?? '';
    expect(created).toMatchObject({
      name: 'Motors',
      organizationOwner: cloud.organizationId,
      organizationName: expect.stringMatching(/./),
      public: false,
      visibility: FragmentVisibility.PRIVATE,
      revision: '1',
      robotPartCount: 0,
      organizationCount: 0,
      onlyUsedByOwner: true,
    });
    expect(created?.fragment?.toJson()).toEqual(motor(1));
    expectRecent(created?.createdOn);
    expectRecent(created?.lastUpdated);
    expect(await app.getFragment(id)).toEqual(created);
    expect((await app.listFragments(cloud.organizationId)).find((one: Listed) => one.id === id)).toEqual(created);
    expect(await app.listFragments(cloud.organizationId, false, [FragmentVisibility.PUBLIC])).toEqual([]);

    const changed = await app.updateFragment(
      id,
      'Motors 2',
      Struct.fromJson(motor(2)),
      undefined,
      FragmentVisibility.PUBLIC,
    );
    expect(changed).toMatchObject({
      id,
      name: 'Motors 2',
      revision: '2',
      public: true,
      visibility: FragmentVisibility.PUBLIC,
    });
    expect(changed?.fragment?.toJson()).toEqual(motor(2));
    expect(
      (await app.listFragments(cloud.organizationId, true, [FragmentVisibility.PUBLIC])).map((one: Listed) => one.id),
    ).toContain(id);
    // As sent by packages that know only two kinds.
    expect(await app.updateFragment(id, 'Motors 2', Struct.fromJson(motor(2)), false)).toMatchObject({
      visibility: FragmentVisibility.PRIVATE,
      public: false,
    });
    await app.deleteFragment(id);
    await expectRefused(app.getFragment(id), Code.notFound, /fragment/);
    expect((await app.listFragments(cloud.organizationId)).map((one: Listed) => one.id)).not.toContain(id);
  });

  test('revisions, tags, history in pages, and versions read by number and tag', async () => {
    const { owner, ada, cloud } = world();
    const id = await create('Versions');
    await ada.app.updateFragment(id, 'Versions', Struct.fromJson(motor(2)));
    await owner.app.updateFragment(id, 'Versions', Struct.fromJson(motor(3)));
    const tags = [{ tag: 'stable', revision: '2' }];
    expect(await owner.ask('SetFragmentTag', { fragment_id: id, tag: 'stable', revision: '2' })).toEqual({ tags });
    const newest = await owner.ask('GetFragment', { id, current_organization_id: cloud.organizationId });
    expect(newest).toMatchObject({
      fragment: { id, revision: '3', public_namespace: 'demo-works' },
      revisions: [{ revision: '3' }, { revision: '2' }, { revision: '1' }],
      tags,
      fragment_usage: { fragment_id: id, organizations: 0, machines: 0, machines_in_current_org: 0 },
    });
    expectRecentSeconds(Reflect.get(Object((newest['revisions'] as object[])[0]), 'created_at'));
    for (const version of ['2', 'stable'])
      expect(await owner.ask('GetFragment', { id, version })).toMatchObject({ fragment: { revision: '2' } });
    await expectRefused(owner.ask('GetFragment', { id, version: '9' }), Code.notFound, /version/);

    const first = await owner.ask('GetFragmentHistory', { id, page_limit: 2 });
    expect(first['history']).toMatchObject([
      { fragment: id, revision: '3', edited_by: { type: 'AUTHENTICATION_TYPE_API_KEY', value: cloud.keyId } },
      { fragment: id, revision: '2', edited_by: { type: 'AUTHENTICATION_TYPE_WEB_OAUTH', value: ada.email } },
    ]);
    const [entry] = first['history'] as Record<string, unknown>[];
    expectRecentSeconds(entry?.['edited_on']);
    expect(entry?.['old']).toMatchObject({ id, name: 'Versions', revision: '2' });
    const page_token = first['next_page_token'];
    expect(await owner.ask('GetFragmentHistory', { id, page_token })).toMatchObject({
      next_page_token: '',
      history: [{ revision: '1', old: { id, name: '' } }],
    });
    await expectRefused(owner.ask('GetFragmentHistory', { id, page_token: 'x' }), Code.invalidArgument, /page token/);
    await owner.ask('SetFragmentTag', { fragment_id: id, tag: 'old', revision: '1' });
    const left = [{ tag: 'old', revision: '1' }];
    expect(await owner.ask('DeleteFragmentTag', { fragment_id: id, tag: 'stable' })).toEqual({ tags: left });
    await expectRefused(owner.ask('DeleteFragmentTag', { fragment_id: id, tag: 'stable' }), Code.notFound, /tag/);
    await expectRefused(
      owner.ask('SetFragmentTag', { fragment_id: id, tag: 'x', revision: '9' }),
      Code.notFound,
      /revision/,
    );
    await expectRefused(
      owner.ask('SetFragmentTag', { fragment_id: id, tag: '<b>', revision: '1' }),
      Code.invalidArgument,
      /tag/,
    );
  });

  test('large revisions come in pages that clients can read, each revision once', async () => {
    const { owner } = world();
    const text = 'x'.repeat(700_000);
    const id = await create('Large', { note: `1${text}` });
    for (const revision of [2, 3, 4])
      await owner.app.updateFragment(id, 'Large', Struct.fromJson({ note: revision + text }));
    const seen: unknown[] = [];
    for (let page_token: unknown = ''; seen.length === 0 || page_token !== ''; ) {
      const page = await owner.ask('GetFragmentHistory', { id, page_token });
      seen.push(...(page['history'] as { revision: string }[]).map(({ revision }) => revision));
      page_token = page['next_page_token'];
    }
    expect(seen).toEqual(['4', '3', '2', '1']);
  });

  test('an update of an outdated revision is ABORTED', async () => {
    const { owner } = world();
    const id = await create('Stale');
    const known = (await owner.app.getFragment(id))?.lastUpdated;
    await owner.app.updateFragment(id, 'Stale', Struct.fromJson(motor(2)));
    const last_known_update = { seconds: Number(known?.seconds), nanos: known?.nanos };
    const stale = owner.ask('UpdateFragment', { id, name: 'Mine', last_known_update });
    await expectRefused(stale, Code.aborted, /revision|newer|newest/);
    expect(await owner.app.getFragment(id)).toMatchObject({ name: 'Stale', revision: '2' });
  });

  test('a fragment that a machine uses is listed with it, counted, followed, and not deleted', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    const inner = await create('Inner', motor(1));
    const outer = await create('Outer', { fragments: [inner] });
    const machineId = await app.newRobot(cloud.locationId, 'uses fragments');
    const [part] = await app.getRobotParts(machineId);
    const config = { fragments: [{ id: outer, version: '1' }] };
    await app.updateRobotPart(part?.id ?? '', '', Struct.fromJson(config));

    expect((await app.listMachineFragments(machineId)).map((one: Listed) => one.id).toSorted()).toEqual(
      [inner, outer].toSorted(),
    );
    const extra = await create('Extra', motor(9));
    expect((await app.listMachineFragments(machineId, [extra])).map((one: Listed) => one.id)).toContain(extra);
    const { resolved_fragments } = await owner.ask('ListMachineFragments', { machine_id: machineId });
    expect(resolved_fragments).toEqual(
      expect.arrayContaining([expect.objectContaining({ fragment_id: outer, revision: '1' })]),
    );
    const nested = await owner.ask('ListNestedFragments', { fragment_id: outer });
    expect(nested['fragments']).toMatchObject([{ id: inner }]);
    expect(nested['resolved_fragments']).toMatchObject([{ fragment_id: inner, error: null }]);
    const missing = await owner.ask('ListNestedFragments', { additional_fragments: [{ fragment_id: unknownId }] });
    expect(missing['resolved_fragments']).toMatchObject([
      { fragment_id: unknownId, error: { error_type: 'FRAGMENT_ERROR_TYPE_NO_ACCESS', fragment_id: unknownId } },
    ]);

    const usage = { fragment_id: outer, organizations: 1, machines: 1, machines_in_current_org: 1 };
    expect(await owner.ask('GetFragmentUsage', { fragment_id: outer })).toMatchObject({
      version_usages: [{ ...usage, version: '1' }],
    });
    expect(await app.getFragment(outer)).toMatchObject({
      robotPartCount: 1,
      organizationCount: 1,
      onlyUsedByOwner: true,
    });
    const listed = await owner.ask('ListFragments', { organization_id: cloud.organizationId });
    expect(listed['fragment_usages']).toEqual(expect.arrayContaining([expect.objectContaining(usage)]));
    const summaries = await app.listMachineSummaries(cloud.organizationId, [outer]);
    const parts = summaries.flatMap((one: Listed) => one.machineSummaries).flatMap((one: Listed) => one.partSummaries);
    expect(parts).toMatchObject([{ partId: part?.id }]);
    expect(parts[0]?.fragments.find((one: Listed) => one.id === outer)).toMatchObject({ id: outer, name: 'Outer' });

    await expectRefused(app.deleteFragment(outer), Code.failedPrecondition, /machine/);
    await expectRefused(app.deleteFragment(inner), Code.failedPrecondition, /fragment/);
    await app.deleteRobot(machineId);
    await app.deleteFragment(outer);
    await app.deleteFragment(inner);
  });

  test('unknown fragments are NOT_FOUND in every operation, and so are those of others', async () => {
    const { owner, ada } = world();
    const other = (await ada.app.createOrganization('Fragments of others'))?.id ?? '';
    const foreign = (await ada.app.createFragment(other, 'theirs', Struct.fromJson({})))?.id ?? '';
    for (const id of [unknownId, foreign, '']) {
      await expectRefused(owner.app.getFragment(id), Code.notFound, /fragment/);
      await expectRefused(owner.app.updateFragment(id, 'x', Struct.fromJson({})), Code.notFound, /fragment/);
      await expectRefused(owner.app.deleteFragment(id), Code.notFound, /fragment/);
      await expectRefused(owner.ask('GetFragmentHistory', { id }), Code.notFound, /fragment/);
      await expectRefused(owner.ask('GetFragmentUsage', { fragment_id: id }), Code.notFound, /fragment/);
      await expectRefused(
        owner.ask('SetFragmentTag', { fragment_id: id, tag: 'x', revision: '1' }),
        Code.notFound,
        /fragment/,
      );
      await expectRefused(owner.ask('DeleteFragmentTag', { fragment_id: id, tag: 'x' }), Code.notFound, /fragment/);
    }
    for (const fragment_id of [unknownId, foreign])
      await expectRefused(owner.ask('ListNestedFragments', { fragment_id }), Code.notFound, /fragment/);
    await expectRefused(owner.app.createFragment(other, 'x', Struct.fromJson({})), Code.notFound, /organization/);
    await expectRefused(owner.app.listFragments(other), Code.notFound, /organization/);
  });
}
