/** What a person checks if a machine is offline, most likely first. Pure. */
export function offlineChecks(cloudUrl: string): readonly string[] {
  const { origin } = new URL(cloudUrl);
  return [
    'Is the computer switched on, and connected to its network?',
    'Is its machine-server running? As a service: systemctl status machine-server. Otherwise, run the line below again.',
    `Does it reach this cloud at ${origin}? On the machine, "~/.platform/machine-server/run -network-check" says what fails; for a service, "sudo -u machine-server /var/lib/machine-server/machine-server/run -network-check".`,
    `Did the address of the cloud change, for example because it was restarted with another --host or with TLS? The log of the machine-server names the address that it tries; a new line gives it ${origin}.`,
  ];
}
