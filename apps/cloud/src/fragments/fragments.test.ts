import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  DeleteFragmentRequestSchema,
  DeleteFragmentTagRequestSchema,
  FragmentErrorType,
  FragmentVisibility,
  GetFragmentHistoryRequestSchema,
  GetFragmentRequestSchema,
  GetFragmentUsageRequestSchema,
  ListFragmentsRequestSchema,
  ListMachineFragmentsRequestSchema,
  ListNestedFragmentsRequestSchema,
  SetFragmentTagRequestSchema,
} from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { on } from '../access/testing/open-fleet.ts';
import { type FragmentsGiven, openFragments, operator, owner, stranger } from './testing/open-fragments.ts';

const debug = { debug: true };
const tagged = (id: string, tag: string, revision: string) => ({ fragmentId: id, tag, revision });
const setTag = (given: FragmentsGiven, id: string, tag: string, revision: string, by = owner) =>
  given.ask(given.fragments.appHandlers.setFragmentTag, SetFragmentTagRequestSchema, tagged(id, tag, revision), by);
const get = (given: FragmentsGiven, id: string, by?: Principal, version?: string) =>
  given.ask(
    given.fragments.appHandlers.getFragment,
    GetFragmentRequestSchema,
    { id, currentOrganizationId: 'acme', ...(version === undefined ? {} : { version }) },
    by,
  );
const code = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (caught: { code?: string; message: string }) => caught.code ?? caught.message,
  );
const text = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (caught: Error) => caught.message,
  );

test('D36 two fragments of one organization have different names; those that already share one can be changed', async () => {
  const given = await openFragments();
  const { id: kit = '' } = await given.create('kit', debug);
  const { id: other = '' } = await given.create('other', debug);
  const taken = { code: 'already_exists', message: expect.stringContaining(`the name of fragment ${kit}`) };
  await expect(given.create(' KIT ', debug)).rejects.toMatchObject(taken);
  await expect(given.update(other, { name: 'Kit' })).rejects.toMatchObject(taken);
  expect(await given.update(kit, { name: 'KIT' })).toMatchObject({ name: 'KIT' });
  await given.db.updateTable('fragments').set({ name: 'other' }).where('id', '=', kit).execute();
  expect(await given.update(kit, { name: 'other', config: {} })).toMatchObject({ name: 'other', fragment: {} });
});

test('every save of a fragment is a revision with author and time and what it replaced, listed newest first, in pages', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create(' base ', debug);
  await given.update(id, { config: { debug: false } });
  const renamed = await given.update(id, { name: 'renamed' });
  expect(renamed).toMatchObject({ name: 'renamed', revision: '3', fragment: { debug: false } });
  const { getFragmentHistory } = given.fragments.appHandlers;
  const first = await given.ask(getFragmentHistory, GetFragmentHistoryRequestSchema, { id, pageLimit: 2n });
  expect(first.history?.map((entry) => [entry.revision, entry.config, entry.editedBy?.value])).toEqual([
    ['3', { debug: false }, 'owner'],
    ['2', { debug: false }, 'owner'],
  ]);
  expect(first.history?.map(({ old }) => [old?.revision, old?.name, old?.fragment])).toEqual([
    ['2', 'base', { debug: false }],
    ['1', 'base', debug],
  ]);
  const rest = await given.ask(getFragmentHistory, GetFragmentHistoryRequestSchema, {
    id,
    pageLimit: 2n,
    pageToken: first.nextPageToken ?? '',
  });
  expect(rest.history?.map((entry) => [entry.revision, entry.old])).toEqual([['1', { id }]]);
  expect(rest.nextPageToken).toBe('');
  const audited = await given.db.selectFrom('audit_entries').select(['action', 'target_id']).orderBy('id').execute();
  expect(audited.map(({ action }) => action)).toEqual([
    'AppService.CreateFragment',
    'AppService.UpdateFragment',
    'AppService.UpdateFragment',
  ]);
});

test('an edit of an older revision is ABORTED with the changes since; without a base time the last write wins', async () => {
  const given = await openFragments();
  const { id = '', lastUpdated } = await given.create('base', debug);
  const seen = timestampFromMs(Number(lastUpdated?.seconds ?? 0n) * 1_000 + (lastUpdated?.nanos ?? 0) / 1e6);
  const second = await given.update(id, { config: { debug: false }, lastKnownUpdate: seen });
  expect(second.revision).toBe('2');
  const stale = given.update(id, { config: {}, lastKnownUpdate: seen });
  expect(await text(stale)).toMatch(/the newest is revision 2, saved at .* by api-key owner[\s\S]*debug/);
  expect(await code(given.update(id, { config: {}, lastKnownUpdate: seen }))).toBe('aborted');
  expect((await given.update(id, { config: {} })).revision).toBe('3');
});

test('a fragment sent as JSON text keeps the order of its keys, and the text takes precedence', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('base', debug);
  const text = '{"network":{"b":1,"a":2},"debug":true}';
  const saved = await given.update(id, { config: { debug: false }, fragmentConfigJson: text });
  expect(saved).toMatchObject({ fragment: { debug: true }, fragmentConfigJson: text });
  const { getFragment } = given.fragments.appHandlers;
  expect((await given.ask(getFragment, GetFragmentRequestSchema, { id })).fragment?.fragmentConfigJson).toBe(text);
  const twice = given.update(id, { fragmentConfigJson: '{"debug":true,"network":{"a":1,"a":2}}' });
  await expect(twice).rejects.toThrow('network.a: expected each key once, found it again (line 1, column 32)');
  for (const wrong of ['{', '[]', '"x"', 'null'])
    expect(await code(given.update(id, { fragmentConfigJson: wrong }))).toBe('invalid_argument');
});

test('a machine follows the newest revision, a pinned revision, or a tag', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('base', { network: { revision: 1 } });
  await setTag(given, id, 'stable', '1');
  await given.save('press-main', { fragments: [id] });
  await given.save('mill-main', { fragments: [{ id, version: '1' }] });
  await given.save('probe-main', {});
  const stamps = () => ['press-main', 'mill-main', 'probe-main'].map((part) => given.fragments.stampOf(part));
  const before = stamps();
  await given.update(id, { config: { network: { revision: 2 } } });
  expect(await given.running('press-main')).toEqual({ network: { revision: 2 } });
  expect(await given.running('mill-main')).toEqual({ network: { revision: 1 } });
  expect(stamps().map((stamp, at) => stamp !== before[at])).toEqual([true, false, false]);

  await given.save('mill-main', { fragments: [{ id, version: 'stable' }] });
  await setTag(given, id, 'stable', '2');
  expect(await given.running('mill-main')).toEqual({ network: { revision: 2 } });
  const tags = await get(given, id);
  expect(tags.tags).toEqual([{ tag: 'stable', revision: '2' }]);
  expect(tags.revisions?.map((each) => each.revision)).toEqual(['2', '1']);
});

test('a change of a nested fragment reaches the machines of the outer one, and triggers are notified if theirs changed', async () => {
  const given = await openFragments();
  const { id: inner = '' } = await given.create('inner', debug);
  const { id: outer = '' } = await given.create('outer', { fragments: [{ id: inner }] });
  await given.save('press-main', { fragments: [outer] });
  await given.update(inner, { config: { debug: false } });
  expect(await given.running('press-main')).toEqual({ debug: false });
  expect(given.told).toEqual([]);
  const triggers = [{ name: 't', event: { type: 'part_online' }, notifications: [] }];
  await given.update(inner, { config: { triggers } });
  expect(given.told).toEqual([['press-main', triggers]]);
});

test('a machine whose fragment has errors keeps its configuration and reports the problem until it is fixed', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('base', { network: { a: 1 } });
  await given.save('press-main', { fragments: [id], debug: true });
  await given.update(id, { config: { network: { a: { $variable: { name: 'a' } } } } });
  expect(await given.running('press-main')).toEqual({ network: { a: 1 }, debug: true });
  expect(await given.fragments.problemsOf('press-main')).toMatchObject([
    { path: 'fragments[0].variables.a', level: 'error', fault: 'no_value' },
  ]);
  expect(given.lines.map(([part]) => part)).toEqual(['press-main']);
  expect(await text(given.save('press-main', { fragments: [id] }))).toContain(
    'fragments[0].variables.a: expected a value',
  );
  await given.update(id, { config: { network: { a: 3 } } });
  expect(await given.running('press-main')).toEqual({ network: { a: 3 }, debug: true });
  expect(await given.fragments.problemsOf('press-main')).toEqual([]);
});

test('when a fragment becomes private, a foreign machine keeps its revision and gets no later one', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('base', { network: { a: 1 } }, FragmentVisibility.PUBLIC_UNLISTED);
  await given.save('probe-main', { fragments: [id] });
  await given.update(id, { config: { network: { a: 'secret' } }, visibility: FragmentVisibility.PRIVATE });
  expect(await given.running('probe-main')).toEqual({ network: { a: 1 } });
  expect(await given.fragments.problemsOf('probe-main')).toMatchObject([{ path: 'fragments[0]', fault: 'no_access' }]);
  await given.save('probe-main', { fragments: [id], debug: true });
  expect(await given.running('probe-main')).toEqual({ network: { a: 1 }, debug: true });
  await given.update(id, { visibility: FragmentVisibility.PUBLIC });
  expect(await given.running('probe-main')).toEqual({ network: { a: 'secret' }, debug: true });
});

test('R11 a foreign private fragment is treated exactly like a nonexistent one, even in a configuration', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('canary', debug);
  const none = 'no-such-id';
  const { appHandlers } = given.fragments;
  const asks: ((asked: string) => Promise<unknown>)[] = [
    (asked) => get(given, asked, stranger),
    (asked) => given.update(asked, { name: 'x' }, stranger),
    (asked) => given.ask(appHandlers.deleteFragment, DeleteFragmentRequestSchema, { id: asked }, stranger),
    (asked) => given.ask(appHandlers.getFragmentHistory, GetFragmentHistoryRequestSchema, { id: asked }, stranger),
    (asked) => given.ask(appHandlers.getFragmentUsage, GetFragmentUsageRequestSchema, { fragmentId: asked }, stranger),
    (asked) =>
      given.ask(appHandlers.listNestedFragments, ListNestedFragmentsRequestSchema, { fragmentId: asked }, stranger),
    (asked) => setTag(given, asked, 'a', '1', stranger),
    (asked) => given.save('probe-main', { fragments: [asked] }),
    (asked) => given.create('mine', { fragments: [asked] }, undefined, stranger),
  ];
  for (const ask of asks) {
    const [foreign, unknown] = [await text(ask(id)), await text(ask(none))];
    expect(foreign).not.toBe('ok');
    expect(foreign.replaceAll(id, 'ID')).toBe(unknown.replaceAll(none, 'ID'));
  }
  const part: Principal = { kind: 'part', partId: 'press-main' };
  expect(await code(get(given, id, part))).toBe('not_found');
});

test('R11 a public fragment is readable by everyone, without its earlier private revisions, and writable only by owners', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('shared', { network: { canary: 1 } });
  await given.update(id, { config: { network: { open: 1 } }, visibility: FragmentVisibility.PUBLIC });
  await setTag(given, id, 'old', '1');
  const seen = await get(given, id, stranger);
  expect(seen.fragment).toMatchObject({ fragment: { network: { open: 1 } }, public: true });
  expect(seen.fragment?.organizationName ?? '').toBe('');
  expect(seen.revisions?.map((each) => each.revision)).toEqual(['2']);
  expect(seen.tags).toEqual([]);
  for (const version of ['1', 'old']) expect(await code(get(given, id, stranger, version))).toBe('not_found');
  expect(await text(given.save('probe-main', { fragments: [{ id, version: '1' }] }))).toContain('fragments[0].version');
  const { history } = await given.ask(
    given.fragments.appHandlers.getFragmentHistory,
    GetFragmentHistoryRequestSchema,
    { id },
    stranger,
  );
  expect(history?.map((entry) => [entry.revision, entry.editedBy])).toEqual([['2', undefined]]);
  for (const by of [stranger, operator])
    expect(await code(given.update(id, { name: 'x' }, by))).toBe('permission_denied');
  expect((await get(given, id, operator, '1')).fragment?.fragment).toEqual({ network: { canary: 1 } });
});

test('R11 lists contain own fragments for their readers, foreign public ones on request, and never unlisted ones', async () => {
  const given = await openFragments();
  await given.create('hidden', debug);
  await given.create('open', debug, FragmentVisibility.PUBLIC);
  await given.create('by id', debug, FragmentVisibility.PUBLIC_UNLISTED);
  await given.create('theirs', debug, FragmentVisibility.PUBLIC, stranger);
  await given.create('their unlisted', debug, FragmentVisibility.PUBLIC_UNLISTED, stranger);
  const list = async (by: Principal, init: object) => {
    const { listFragments } = given.fragments.appHandlers;
    const answer = await given.ask(listFragments, ListFragmentsRequestSchema, { organizationId: 'acme', ...init }, by);
    return answer.fragments?.map((fragment) => fragment.name);
  };
  const machineOperator: Principal = { kind: 'key', keyId: 'm', grants: [on.machine('operator', 'press')] };
  const machineOwner: Principal = { kind: 'key', keyId: 'm', grants: [on.machine('owner', 'press')] };
  expect(await list(operator, {})).toEqual(['by id', 'hidden', 'open']);
  expect(await list(machineOwner, { showPublic: true })).toEqual(['by id', 'hidden', 'open', 'theirs']);
  expect(await list(machineOperator, {})).toEqual(['open']);
  expect(await list(owner, { fragmentVisibility: [FragmentVisibility.PRIVATE] })).toEqual(['hidden']);
  expect(await list(stranger, { organizationId: '', showPublic: true })).toEqual(['their unlisted', 'theirs', 'open']);
  expect(await code(list(stranger, {}))).toBe('not_found');
  // Without an organization: all fragments that the caller may see.
  expect(await list(owner, { organizationId: '' })).toEqual(['by id', 'hidden', 'open']);
  expect(await list(owner, { organizationId: '', showPublic: true })).toEqual(['by id', 'hidden', 'open', 'theirs']);
  expect(await list(machineOperator, { organizationId: '' })).toEqual(['open']);
  expect(await list({ kind: 'key', keyId: 'n', grants: [] }, { organizationId: '' })).toEqual([]);
});

test('a fragment in use cannot be deleted, and its users are named as far as the caller may know them', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('base', debug, FragmentVisibility.PUBLIC);
  const { id: outer = '' } = await given.create('outer', { fragments: [id] });
  await given.save('press-main', { fragments: [outer] });
  await given.save('probe-main', { fragments: [id] });
  const remove = (asked: string) =>
    given.ask(given.fragments.appHandlers.deleteFragment, DeleteFragmentRequestSchema, { id: asked });
  expect(await code(remove(id))).toBe('failed_precondition');
  const said = await text(remove(id));
  expect(said).toContain('machines "press" (press) and 1 more');
  expect(said).toContain(`fragment "outer" (${outer})`);
  expect(said).not.toContain('probe');

  await given.save('press-main', {});
  await given.save('probe-main', {});
  await given.db
    .updateTable('organizations')
    .set({ default_fragments: `{"fragments":[{"fragmentId":"${outer}"}]}` })
    .where('id', '=', 'acme')
    .execute();
  expect(await text(remove(outer))).toContain('the default fragments of its organization');
  await given.db.updateTable('organizations').set({ default_fragments: null }).execute();
  await remove(outer);
  await remove(id);
  expect(await code(get(given, id))).toBe('not_found');
});

test('R11 owners of the fragment see all usage, others only their own', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('base', debug, FragmentVisibility.PUBLIC);
  await setTag(given, id, 'stable', '1');
  await given.save('press-main', { fragments: [id] });
  await given.save('mill-main', { fragments: [{ id, version: 'stable' }] });
  await given.save('probe-main', { fragments: [id] });
  const usage = async (by: Principal) => {
    const { getFragmentUsage } = given.fragments.appHandlers;
    const answer = await given.ask(getFragmentUsage, GetFragmentUsageRequestSchema, { fragmentId: id }, by);
    return answer.versionUsages?.map((each) => [each.version ?? '', each.organizations, each.machines]);
  };
  expect(await usage(owner)).toEqual([
    ['', 2, 2],
    ['stable', 1, 1],
  ]);
  expect(await usage(operator)).toEqual([
    ['', 1, 1],
    ['stable', 1, 1],
  ]);
  expect(await usage(stranger)).toEqual([['', 1, 1]]);
  expect((await get(given, id)).fragment).toMatchObject({
    robotPartCount: 3,
    organizationCount: 2,
    onlyUsedByOwner: false,
  });
  expect((await get(given, id, operator)).fragmentUsage).toMatchObject({ machines: 2, machinesInCurrentOrg: 2 });
  const removeTag = given.ask(given.fragments.appHandlers.deleteFragmentTag, DeleteFragmentTagRequestSchema, {
    fragmentId: id,
    tag: 'stable',
  });
  expect(await text(removeTag)).toContain('found 1 machines');
});

test('a fragment is checked by the configuration schema; all errors are named with their paths, and nothing is saved', async () => {
  const given = await openFragments();
  const { id: shut = '' } = await given.create('shut', debug);
  const broken = given.create('broken', {
    components: [
      { name: 'a', api: 'core:component:sensor', attributes: 7 },
      { name: 'b', api: { $variable: { name: 'api' } } },
    ],
    fragments: [{ id: 'gone' }],
  });
  const said = await text(broken);
  expect(said).toContain('components[0].attributes: expected an object, found 7');
  expect(said).toContain('fragments[0]: expected the id of a fragment that may be used here, found "gone"');
  expect(said).not.toContain('components[1]');
  expect(await text(given.create('open', { fragments: [shut] }, FragmentVisibility.PUBLIC))).toContain(
    'in a public fragment',
  );
  const password = [{ name: 't', event: {}, notifications: [{ auth: { basic: { username: 'u', password: 'p' } } }] }];
  expect(await text(given.create('open', { triggers: password }, FragmentVisibility.PUBLIC))).toContain('no "auth"');
  expect(await text(given.update(shut, { config: { fragments: [shut] } }))).toContain('expected no cycle');
  const { id: outer = '' } = await given.create('outer', { fragments: [shut] });
  expect(await text(given.update(shut, { config: { fragments: [outer] } }))).toContain('expected no cycle');
  expect((await get(given, shut)).fragment?.revision).toBe('1');
});

test('unusual names and tags are stored unchanged or refused, never interpreted', async () => {
  const given = await openFragments();
  const markup = `<img src=x onerror=alert(1)> '; drop table fragments; --`;
  const { id = '' } = await given.create(markup, JSON.parse('{"notes":{"__proto__":{"a":1}}}'));
  expect((await get(given, id)).fragment?.name).toBe(markup);
  for (const name of ['', ' ', 'a\u0000b', 'x'.repeat(10_000)])
    expect(await code(given.create(name, debug))).toBe('invalid_argument');
  for (const tag of ['', '7', 'latest', 'a b', '../x', 'x'.repeat(61)])
    expect(await code(setTag(given, id, tag, '1'))).toBe('invalid_argument');
  expect(await code(setTag(given, id, 'ok', '2'))).toBe('not_found');
  const deep = JSON.parse(`${'{"a":'.repeat(99)}1${'}'.repeat(99)}`);
  expect(await code(given.create('deep', { network: { deep } }))).toBe('invalid_argument');
  expect(await code(given.create('big', { network: { big: 'x'.repeat(1_100_000) } }))).toBe('invalid_argument');
});

test('the nested fragments of a fragment and of a machine are listed with their resolved content', async () => {
  const given = await openFragments();
  const { id: inner = '' } = await given.create('inner', { network: { a: 1 } });
  const { id: outer = '' } = await given.create('outer', { debug: true, fragments: [inner] });
  const { appHandlers } = given.fragments;
  const nested = await given.ask(appHandlers.listNestedFragments, ListNestedFragmentsRequestSchema, {
    fragmentId: outer,
  });
  expect(nested.fragments?.map((each) => each.name)).toEqual(['inner']);
  await given.save('press-main', { fragments: [outer] });
  const ofMachine = (by: Principal, more: object = {}) =>
    given.ask(appHandlers.listMachineFragments, ListMachineFragmentsRequestSchema, { machineId: 'press', ...more }, by);
  const found = await ofMachine(owner, { additionalFragments: [{ fragmentId: 'gone' }] });
  expect(found.fragments?.map((each) => each.name).toSorted()).toEqual(['inner', 'outer']);
  expect(found.resolvedFragments?.map((each) => [each.fragmentId, each.resolvedConfig, each.error?.errorType])).toEqual(
    [
      [outer, { debug: true, network: { a: 1 } }, undefined],
      [inner, { network: { a: 1 } }, undefined],
      ['gone', {}, FragmentErrorType.NO_ACCESS],
    ],
  );
  const machineOperator: Principal = { kind: 'key', keyId: 'm', grants: [on.machine('operator', 'press')] };
  expect(await ofMachine(machineOperator)).toEqual({ fragments: [], resolvedFragments: [] });
  expect(await code(ofMachine(stranger))).toBe('not_found');
});

test('a save is refused if a fragment changed after its check, and default fragments are the first document', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('base', debug);
  const document = { fragments: [id] };
  const checked = await given.fragments.effective('press-main', document);
  await given.update(id, { config: { debug: false } });
  const late = given.db.transaction().execute((trx) => given.fragments.saving(trx, 'press-main', checked));
  expect(await code(late)).toBe('aborted');
  expect(given.fragments.firstDocument('acme')).toBeUndefined();
});
