/** A program that moves a motor over WebRTC and runs until it is killed: node moving-client.ts '{"address": …}' motor */
import { type ConnectMachineOptions, connectMachine, motor } from '@platform/sdk/machine';

const [options = '', name = ''] = process.argv.slice(2);
const machine = connectMachine(JSON.parse(options) as ConnectMachineOptions);
await machine.resource(motor, name).setPower({ powerPct: 0.5 });
console.log(JSON.stringify({ event: 'moving', path: machine.path }));
