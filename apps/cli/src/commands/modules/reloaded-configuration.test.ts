import { expect, test } from 'vitest';
import { withReloaded } from './reloaded-configuration.ts';

const wanted = { name: undefined, moduleName: 'my-sensor', moduleId: 'acme:my-sensor' };
const first = '/home/dev/my-sensor/dist/reload/0123456789ab/run.sh';
const second = '/home/dev/my-sensor/dist/reload/ba9876543210/run.sh';

test('a configuration without the module gets a local one; the next reload changes its path', () => {
  const other = { name: 'other', type: 'local', executable_path: '/other' };
  const once = withReloaded({ modules: [other], components: [] }, { ...wanted, path: first });
  const local = { name: 'my-sensor', type: 'local' };
  expect(once).toEqual({
    ...{ name: 'my-sensor', document: { modules: [other, { ...local, executable_path: first }], components: [] } },
  });
  const twice = withReloaded(once.document, { ...wanted, path: second });
  expect(twice.document['modules']).toEqual([other, { ...local, executable_path: second }]);
});

test('the original kind of a module is kept: a registry module, found by its id, or a local one, found by its name', () => {
  const registry = { name: 'sensors', type: 'registry', module_id: 'acme:my-sensor', version: '1.2.0' };
  const local = { name: 'my-sensor', type: 'local', executable_path: '/opt/my-sensor/run.sh' };
  for (const before of [registry, local]) {
    const { document, name } = withReloaded({ modules: [before] }, { ...wanted, path: first });
    expect(name).toBe(before.name);
    expect(document['modules']).toEqual([{ ...before, reload_path: first, reload_enabled: true }]);
    const again = withReloaded(document, { ...wanted, path: second });
    expect(again.document['modules']).toEqual([{ ...before, reload_path: second, reload_enabled: true }]);
  }
});

test('a name chooses the entry; a "modules" that is not a list is refused', () => {
  const chosen = withReloaded({ modules: [] }, { ...wanted, name: 'left', path: first });
  expect(chosen).toMatchObject({ name: 'left', document: { modules: [{ name: 'left' }] } });
  expect(() => withReloaded({ modules: {} }, { ...wanted, path: first })).toThrow('modules: expected a list, found {}');
});
