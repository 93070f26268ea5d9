/** The files of a new module: one sensor, whose readings are the load of the computer. */

export interface Names {
  /** Of the folder, the module and its program. */
  readonly name: string;
  readonly namespace: string;
}

/** The files by their paths in the folder. */
export function moduleFiles({ name, namespace }: Names): Readonly<Record<string, string>> {
  const model = `${namespace}:${name}:load`;
  return {
    [`${name}.ts`]: program(model),
    'package.json': json({
      ...{ name, version: '0.1.0', private: true, type: 'module', main: `${name}.ts`, files: [] },
      scripts: { build: 'platform modules build', reload: 'platform modules reload' },
      engines: { node: '>=24' },
    }),
    'meta.json': json({
      module_id: `${namespace}:${name}`,
      visibility: 'private',
      description: 'What this module is for.',
      models: [{ api: 'core:component:sensor', model }],
      entrypoint: 'run.sh',
      build: { build: 'platform modules build', path: 'dist/module.tar.gz' },
    }),
    'README.md': readme(name, model),
    '.gitignore': 'dist/\nnode_modules/\n',
  };
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const program = (
  model: string,
): string => `/** Sensors of this module. A machine-server starts this program and asks it for resources. */
import { loadavg } from 'node:os';
import { defineModel, invalidAttribute, sensor, serveModule } from '@platform/sdk/module';

const load = defineModel(sensor, {
  model: '${model}',
  // Throws an error if the attributes are invalid; the machine shows it with the sensor. Returns the names of other
  // resources that it needs, for example { required: ['door'] }.
  validate({ attributes: { scale = 1 } }) {
    if (typeof scale !== 'number') throw invalidAttribute('scale', 'a number', scale);
    return {};
  },
  // Called when the configuration of a machine has such a sensor.
  build({ attributes: { scale = 1 }, log }) {
    log.info('started', { scale });
    return {
      readings: () => {
        const [lastMinute = 0] = loadavg();
        return { load: lastMinute * Number(scale) };
      },
      // Optional, like doCommand and reconfigure.
      close: () => log.info('stopped'),
    };
  },
});

await serveModule({ models: [load] });
`;

const readme = (name: string, model: string): string => `# ${name}

A module for machines: it provides the sensor model \`${model}\`.

| | |
|---|---|
| \`platform modules reload --part PART\` | runs this folder on a machine-server of this computer; again after each change |
| \`platform modules build\` | bundles the program into \`dist/module.tar.gz\` |
| \`platform modules upload dist/module.tar.gz --version 0.1.0\` | makes it available to all machines of the organization |

A sensor of it in the configuration of a machine:

\`\`\`json
{ "name": "load", "api": "core:component:sensor", "model": "${model}", "attributes": { "scale": 100 } }
\`\`\`

\`${name}.ts\` is the program. npm packages that it imports are bundled, except those with binaries; other files that it needs are listed under \`files\` in \`package.json\`.
`;
