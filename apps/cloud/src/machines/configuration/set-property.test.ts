import { expect, test } from 'vitest';
import { app, fleet, openMachines } from '../testing/open-machines.ts';
import { setProperty } from './set-property.ts';

const document = () => ({ components: [{ name: 'a', attributes: { pin: 1, 'a b': 2 } }], debug: false });

test('a value is set by its path, and missing objects on the path are created', () => {
  const set = (path: string, value: unknown) => {
    const changed = document();
    setProperty(changed as never, path, value as never);
    return changed;
  };
  const [component] = document().components;
  expect(set('debug', true)).toEqual({ ...document(), debug: true });
  expect(set('$.components[0].attributes.pin', 7).components[0]?.attributes.pin).toBe(7);
  expect(set("components.0.attributes['a b']", null).components[0]?.attributes['a b']).toBe(null);
  expect(set('components[1]', { name: 'b' }).components).toEqual([component, { name: 'b' }]);
  expect(set('network.sessions["x.y"]', [1])).toEqual({ ...document(), network: { sessions: { 'x.y': [1] } } });
  const named = set('__proto__.polluted', true);
  expect(Object.keys(named)).toContain('__proto__');
  expect(({} as Record<string, unknown>)['polluted']).toBe(undefined);
});

test('an invalid path is refused by name and changes nothing', () => {
  const refused = (path: string) => {
    const unchanged = document();
    let message = '';
    try {
      setProperty(unchanged as never, path, 1 as never);
    } catch (caught) {
      message = String(caught);
    }
    expect(unchanged).toEqual(document());
    return message;
  };
  expect(refused('')).toMatch(/1 to 1000 characters/);
  expect(refused('components[5].name')).toMatch(/\$\.components: expected a place in its list, from 0 to 1, found 5/);
  expect(refused('debug.level')).toMatch(/\$\.debug: expected an object, found a boolean/);
  expect(refused('components[0][1]')).toMatch(/expected a list, found an object/);
  expect(refused('components[x]')).toMatch(/path: expected names and places .* found "\[x\]"/);
});

test('SetConfigProperty saves one version with all valid changes, and reports the success of each change', async () => {
  const { ask, owner, partId } = await openMachines();
  await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: '{"debug":false,"z":1,"a":2}' });
  const set = (...propertyChanges: { path: string; value?: object }[]) =>
    ask(owner, app.setConfigProperty, { robotPartId: partId, propertyChanges } as never);
  const bool = (value: boolean) => ({ kind: { case: 'boolValue' as const, value } });
  const answer = await set({ path: 'debug', value: bool(true) }, { path: 'debug.x', value: bool(true) }, { path: 'z' });
  expect(answer.propertyChanges).toMatchObject([
    { path: 'debug', success: true, error: '', value: bool(true) },
    { path: 'debug.x', success: false, error: expect.stringMatching(/expected an object/) },
    { path: 'z', success: false, error: expect.stringMatching(/value: expected one, found none/) },
  ]);
  const newest = async () => (await ask(owner, fleet.getConfigurationVersion, { partId })).document;
  expect(Object.entries(JSON.parse(await newest()))).toEqual([
    ['debug', true],
    ['z', 1],
    ['a', 2],
  ]);
  expect((await ask(owner, fleet.listConfigurationVersions, { partId })).versions).toHaveLength(2);
  await expect(set({ path: 'components', value: bool(true) })).rejects.toMatchObject({ code: 'invalid_argument' });
  expect((await ask(owner, fleet.listConfigurationVersions, { partId })).versions).toHaveLength(2);
});
