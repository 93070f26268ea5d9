/** What a person checks if a machine is offline, most likely first. Pure. */
export function offlineChecks(cloudUrl: string): readonly string[] {
  const { origin } = new URL(cloudUrl);
  return [
    'Is the computer switched on, and connected to its network?',
    'Is its machine-server running? As a service: systemctl status machine-server. Otherwise, run the line below again.',
    `Does it reach this cloud at ${origin}? On the machine, "machine-server -config FILE -network-check" says what fails.`,
    `Did the address of the cloud change, for example because it was restarted with another --host or with TLS? The log of the machine-server names the address that it tries; a new line gives it ${origin}.`,
  ];
}
