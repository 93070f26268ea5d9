/** `platform machines part modules`: the modules with their versions, requested from the machine itself. */
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { partArgument } from '../config/configuration.ts';

const states = ['unknown', 'pending', 'starting', 'ready', 'unhealthy', 'closing'];

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
        state: states[one.state] ?? 'unknown',
        failures: one.consecutiveFailures,
        problem: [one.error, one.warning].filter((each) => each !== '').join('; ') || null,
      }));
      out.rows(rows, ['name', 'version', 'state', 'problem']);
    },
  );
}
