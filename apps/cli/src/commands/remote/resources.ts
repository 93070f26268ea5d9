/** `platform machines part resources`: the running resources, requested from the machine itself. */
import { ResourceStatus_State } from '@platform/sdk/machine';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { partArgument } from '../config/configuration.ts';

/** docs/specs/states.md says what makes each true, as it does for those of modules. */
export const resourceStates: Readonly<Record<ResourceStatus_State, string>> = {
  [ResourceStatus_State.UNSPECIFIED]: 'unknown',
  [ResourceStatus_State.UNCONFIGURED]: 'unconfigured',
  [ResourceStatus_State.CONFIGURING]: 'configuring',
  [ResourceStatus_State.READY]: 'ready',
  [ResourceStatus_State.REMOVING]: 'removing',
  [ResourceStatus_State.UNHEALTHY]: 'unhealthy',
};

export function resourcesCommand(): Command {
  return defineCommand(
    new Command('resources')
      .description('list the resources of a machine with their state, as the machine reports it through the cloud')
      .argument(...partArgument),
    { examples: ['platform machines part resources press-7'], fields: ['name', 'type', 'state', 'error'] },
    async ({ cloud, out, find }, _flags, text = '') => {
      const { id } = await find.part(text);
      using machine = (await cloud()).machine(id);
      const { resources } = await machine.robot.getMachineStatus({});
      const rows = resources.map(({ name, state, error }) => ({
        name: name?.name ?? '',
        type: `${name?.namespace}:${name?.type}:${name?.subtype}`,
        state: resourceStates[state] ?? 'unknown',
        error: error || null,
      }));
      out.rows(
        rows.toSorted((a, b) => `${a.type}/${a.name}`.localeCompare(`${b.type}/${b.name}`)),
        ['name', 'type', 'state', 'error'],
      );
    },
  );
}

export const moduleStates: readonly string[] = ['unknown', 'pending', 'starting', 'ready', 'unhealthy', 'closing'];

/** `platform machines part modules`: the modules with their versions, requested from the machine itself. */
export function modulesCommand(): Command {
  return defineCommand(
    new Command('modules')
      .description('list the modules of a machine with version and state, as the machine reports it through the cloud')
      .argument(...partArgument),
    {
      examples: ['platform machines part modules press-7'],
      fields: ['name', 'version', 'state', 'failures', 'problem'],
    },
    async ({ cloud, out, find }, _flags, text = '') => {
      const { id } = await find.part(text);
      using machine = (await cloud()).machine(id);
      const { modules } = await machine.robot.getMachineStatus({});
      const rows = modules.map((one) => ({
        name: one.moduleName,
        version: one.version || null,
        state: moduleStates[one.state] ?? 'unknown',
        failures: one.consecutiveFailures,
        problem: [one.error, one.warning].filter((each) => each !== '').join('; ') || null,
      }));
      out.rows(rows, ['name', 'version', 'state', 'problem']);
    },
  );
}
