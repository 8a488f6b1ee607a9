# Licensed under either of Apache License 2.0 or MIT, at your option.

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = '''
    name: jsonl
    type: stdout
    short_description: One JSON object a line for programs
    version_added: "1.0.0"
    description:
        - Prints a line for each result of a node as it comes, and the counts of each node at the end.
        - Each line is an object. C(event) is C(play), C(result) or C(stats).
        - A result has C(node), C(task), C(status) (C(ok), C(failed), C(unreachable) or C(skipped)), C(message) where it did
          not succeed, and C(facts), what the role C(assay.fleet.node) says of the node.
        - Results of tasks with C(no_log) have neither message nor facts.
'''

import json

from ansible.plugins.callback import CallbackBase

# What the role says of a node.
FACTS = ('node_host', 'node_report', 'node_result', 'node_collected', 'node_removed')


class CallbackModule(CallbackBase):
    """Prints one JSON object a line."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'stdout'
    CALLBACK_NAME = 'assay.fleet.jsonl'

    def _say(self, **line):
        # A name that is no text in UTF-8 is escaped, not an end of everything.
        self._display.display(json.dumps(line, sort_keys=True))

    def _result(self, status, result, **more):
        told = result._result
        line = dict(event='result', node=result._host.get_name(), task=result._task.get_name(), status=status)
        line.update(more)
        if not (told.get('_ansible_no_log') or result._task.no_log):
            if status in ('failed', 'unreachable'):
                line['message'] = self._message(told)
            facts = told.get('ansible_facts') or {}
            line['facts'] = dict((name, facts[name]) for name in FACTS if name in facts)
        self._say(**line)

    @staticmethod
    def _message(told):
        # A script that failed has said why; what Ansible says of it is its exit code.
        for said in (told.get('stderr'), told.get('msg'), told.get('stdout')):
            lines = [one.strip() for one in str(said or '').splitlines() if one.strip()]
            if lines:
                return lines[-1]
        return ''

    def v2_playbook_on_play_start(self, play):
        self._say(event='play', play=play.get_name().strip())

    def v2_runner_on_ok(self, result):
        self._result('ok', result, changed=bool(result._result.get('changed')))

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._result('failed', result, ignored=bool(ignore_errors))

    def v2_runner_on_unreachable(self, result):
        self._result('unreachable', result)

    def v2_runner_on_skipped(self, result):
        self._result('skipped', result)

    def v2_playbook_on_no_hosts_matched(self):
        self._say(event='stats', nodes={})

    def v2_playbook_on_stats(self, stats):
        self._say(event='stats', nodes=dict((node, stats.summarize(node)) for node in sorted(stats.processed)))
