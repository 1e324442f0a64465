import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

/** The compose file is not run here; its settings are compared with those of the cluster under test. */
describe('the compose file of the cluster guide', () => {
  const guide = readFileSync('docs/how-to/cluster.md', 'utf8');
  const tests = readFileSync('test/cluster/start-cluster.ts', 'utf8');
  const archives = readFileSync('test/cluster/archives.ts', 'utf8');
  const { services } = parse(/```yaml\n(# compose[\s\S]*?)```/.exec(guide)![1]!) as {
    services: Record<string, { image: string; command: string[]; volumes: string[] }>;
  };
  const settings = (service: string): ReadonlyMap<string, string> =>
    new Map(
      /printf '([^']*)'/
        .exec(services[service]!.command[2]!)![1]!
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    );

  it('the compose file gives coordinator and workers only settings under test, in the tested version', () => {
    const [, version] = /const version = '(\d+)'/.exec(archives)!;
    for (const [name, { image }] of Object.entries(services)) {
      expect(image).toBe(`trinodb/trino:${version}`);
      for (const key of settings(name).keys())
        expect([name, key, tests.includes(`${key}:`) || tests.includes(`'${key}':`)]).toEqual([name, key, true]);
    }
    expect(settings('coordinator').get('coordinator')).toBe('true');
    expect(settings('worker').get('coordinator')).toBe('false');
    expect(settings('worker').get('discovery.uri')).toBe(settings('coordinator').get('discovery.uri'));
  });
  it('the compose file mounts the folder that the guide fills, and nothing else', () => {
    const mounted = Object.values(services).flatMap((service) => service.volumes.map((volume) => volume.split(':')[0]!));
    expect([...new Set(mounted)]).toEqual(['./catalog']);
    expect(guide).toContain('# catalog/tpch.properties');
  });
});
