import { expect, test } from 'vitest';
import { type Listed, Struct } from './package-types.ts';
import { roleOn } from './people.ts';
import { Code, expectRefused, type World } from './world.ts';

const refusedNames: Readonly<Record<string, string>> = {
  'of 10 kB': 'x'.repeat(10_000),
  'with a line break': 'two\nlines',
  'with a zero': 'zero\u0000zero',
  'with a terminal’s escape': 'red\u001b[31m',
  'of white space': ' \t ',
};
const storedNames: Readonly<Record<string, string>> = {
  markup: '<img src=x onerror=alert(1)>',
  SQL: "'; drop table machines; --",
  template: '{{7*7}} #{7*7} %s %n',
  path: '../../etc/passwd',
  'other writing': 'مرحبا 机器 🤖 é́',
};

interface Named {
  /** Creates a thing with this name, and returns the name that is read back. */
  create(name: string): Promise<string | undefined>;
  rename(name: string): Promise<string | undefined>;
  /** Whether a new one without a name gets a default name. */
  readonly needsNoName?: true;
}

function kinds(world: () => World): Readonly<Record<string, () => Named>> {
  return {
    organization: () => {
      const { ada, cloud } = world();
      return {
        async create(name) {
          const id = (await ada.app.createOrganization(name))?.id ?? '';
          const read = (await ada.app.getOrganization(id))?.name;
          await ada.app.deleteOrganization(id);
          return read;
        },
        rename: async (name) => (await ada.app.updateOrganization(cloud.organizationId, name))?.name,
      };
    },
    location: () => {
      const { owner, cloud } = world();
      return {
        async create(name) {
          const id = (await owner.app.createLocation(cloud.organizationId, name))?.id ?? '';
          const read = (await owner.app.getLocation(id))?.name;
          await owner.app.deleteLocation(id);
          return read;
        },
        rename: async (name) => (await owner.app.updateLocation(cloud.locationId, name))?.name,
      };
    },
    machine: () => {
      const { owner, cloud } = world();
      return {
        async create(name) {
          const id = await owner.app.newRobot(cloud.locationId, name);
          const read = (await owner.app.getRobot(id))?.name;
          await owner.app.deleteRobot(id);
          return read;
        },
        rename: async (name) => (await owner.app.updateRobot(cloud.machineId, cloud.locationId, name))?.name,
      };
    },
    part: () => {
      const { owner, cloud } = world();
      return {
        async create(name) {
          const id = await owner.app.newRobotPart(cloud.machineId, name);
          const read = (await owner.app.getRobotPart(id)).part?.name;
          await owner.app.deleteRobotPart(id);
          return read;
        },
        rename: async (name) => (await owner.app.updateRobotPart(cloud.partId, name, Struct.fromJson({})))?.name,
      };
    },
    fragment: () => {
      const { owner, cloud } = world();
      return {
        async create(name) {
          const created = await owner.app.createFragment(cloud.organizationId, name, Struct.fromJson({}));
          const read = (await owner.app.getFragment(created?.id ?? ''))?.name;
          await owner.app.deleteFragment(created?.id ?? '');
          return read;
        },
        async rename(name) {
          const { id = '' } =
            (await owner.app.createFragment(cloud.organizationId, 'named', Struct.fromJson({}))) ?? {};
          return owner.app
            .updateFragment(id, name, Struct.fromJson({}))
            .then((renamed: { readonly name: string } | undefined) => renamed?.name)
            .finally(() => owner.app.deleteFragment(id));
        },
      };
    },
    key: () => {
      const { owner, cloud } = world();
      return {
        async create(name) {
          const role = roleOn(cloud.organizationId, 'robot', cloud.machineId, 'operator');
          const { id } = await owner.app.createKey([role], name);
          const read = (await owner.app.listKeys(cloud.organizationId)).find((one: Listed) => one.apiKey?.id === id)
            ?.apiKey?.name;
          await owner.app.deleteKey(id);
          return read;
        },
        async rename(name) {
          const role = roleOn(cloud.organizationId, 'robot', cloud.machineId, 'operator');
          const { id } = await owner.app.createKey([role]);
          return String((await owner.ask('RenameKey', { id, name }))['name']);
        },
        needsNoName: true,
      };
    },
  };
}

export function hostileNameTests(world: () => World): void {
  const all = Object.entries(kinds(world));
  test.each(all)('of a %s: markup and similar text is stored unchanged', async (_kind, of) => {
    for (const name of Object.values(storedNames)) {
      expect(await of().create(name)).toBe(name);
      expect(await of().rename(name)).toBe(name);
    }
  });
  test.each(all)('of a %s: 10 kB, control characters and white space are refused by name', async (_kind, of) => {
    for (const name of Object.values(refusedNames)) {
      const { create, rename, needsNoName = false } = of();
      if (!needsNoName || name.trim() !== '') await expectRefused(create(name), Code.invalidArgument, /name/);
      await expectRefused(rename(name), Code.invalidArgument, /name/);
    }
  });
}
