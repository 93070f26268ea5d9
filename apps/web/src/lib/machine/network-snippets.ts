/**
 * Code that connects to a machine in its own network, without the cloud, with a key of only that machine. For programs that go through the
 * cloud, see `@platform/machine-config/program-snippets`.
 */
import type { Snippet } from '../settings/snippets.ts';

/** Where a machine-server listens unless its configuration says otherwise. */
const defaultPort = 8080;

/** @param localFqdn its name in multicast DNS, where clients find the port, too */
export function networkSnippets(localFqdn: string, id: string, key: string): readonly Snippet[] {
  return [
    { name: 'Python', text: python(localFqdn, id, key) },
    { name: 'TypeScript', text: typescript(localFqdn, id, key) },
    { name: 'Go', text: go(localFqdn, id, key) },
  ];
}

function python(address: string, id: string, key: string): string {
  return `# pip install viam-sdk
import asyncio
from viam.robot.client import RobotClient

async def main():
    options = RobotClient.Options.with_api_key(api_key="${key}", api_key_id="${id}")
    machine = await RobotClient.at_address("${address}", options)
    print(machine.resource_names)
    await machine.close()

asyncio.run(main())`;
}

function typescript(localFqdn: string, id: string, key: string): string {
  return `// npm install @viamrobotics/sdk
import * as VIAM from '@viamrobotics/sdk';

// The port is ${defaultPort}, or the next free one: the log of the machine-server says which.
const machine = await new VIAM.RobotClient().dial({
  host: 'https://${localFqdn}:${defaultPort}',
  credentials: { type: 'api-key', authEntity: '${id}', payload: '${key}' },
  noReconnect: true,
});
console.log(await machine.resourceNames());
await machine.disconnect();`;
}

function go(address: string, id: string, key: string): string {
  return `package main

import (
	"context"
	"fmt"

	"go.viam.com/rdk/logging"
	"go.viam.com/rdk/robot/client"
	"go.viam.com/utils/rpc"
)

func main() {
	ctx := context.Background()
	credentials := rpc.WithEntityCredentials("${id}", rpc.Credentials{Type: "api-key", Payload: "${key}"})
	machine, err := client.New(ctx, "${address}", logging.NewLogger("client"), client.WithDialOptions(credentials))
	if err != nil {
		panic(err)
	}
	defer machine.Close(ctx)
	fmt.Println(machine.ResourceNames())
}`;
}
