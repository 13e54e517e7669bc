"""Drives headless Chromium over a report's page; scripts/html-check runs it.

Every request of the browser goes to a server of this script, as a proxy, which
notes what it is asked for and answers nothing.
"""
import base64
import hashlib
import html
import http.server
import json
import re
import subprocess
import sys
import threading

chromium, folder = sys.argv[1:3]
asked = []


class Note(http.server.BaseHTTPRequestHandler):
    def note(self):
        asked.append(self.path)
        try:
            self.send_error(404)
        except OSError:
            pass  # the browser is gone

    do_GET = do_POST = do_HEAD = do_CONNECT = do_OPTIONS = note

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Note)
threading.Thread(target=server.serve_forever, daemon=True).start()
port = server.server_address[1]
failed = False


def check(ok, what, more=""):
    global failed
    print(("ok   " if ok else "FAIL ") + what + ("" if ok else " " + str(more)[:2000]))
    failed = failed or not ok


def dom(name, text):
    """The page's DOM after its scripts ran, and what was asked for meanwhile."""
    path = folder + "/" + name
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    asked.clear()
    out = subprocess.run(
        [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-default-apps", "--user-data-dir=" + folder + "/profile",
         "--proxy-server=http://127.0.0.1:%d" % port, "--proxy-bypass-list=<-loopback>", "--virtual-time-budget=5000", "--dump-dom", "file://" + path],
        capture_output=True, timeout=120, check=False)
    got = out.stdout.decode("utf-8", "replace")
    if "<body" not in got:
        print(out.stderr.decode("utf-8", "replace")[-2000:], file=sys.stderr)
        sys.exit("FAIL the browser gave no page")
    own = r"^(https?://)?([a-z0-9.-]+\.)?(google|googleapis|gvt1|gstatic)\.com[:/]"  # the browser's, about itself
    return got, [a for a in asked if not re.match(own, a)]


def source(script):
    """How a policy names a script."""
    return "&#39;sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode().replace("+", "&#43;") + "&#39;"


page = open(folder + "/page.html", encoding="utf-8").read()
evil_name = html.escape("site/<img src=x onerror=document.title=1>.fatbin")

# Without script: everything that is told is in the page as it is written.
bare = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
got, _ = dom("bare.html", bare)
check('id="matrix"' in got and got.count('class="v v-native"') > 3 and '<p id="tools" hidden' in got, "the facts are there without script, the tools are not", got)

# As it is.
got, requests = dom("page.html", page)
check("<th scope=\"col\" aria-sort" not in got and got.count("<button type=\"button\">") > 5, "the script made buttons of headings", got[:3000])
check('<p id="tools">' in got, "the search box is shown")
check("<title>CUDA coverage: 5 files</title>" in got and "<img" not in got and "&lt;img src=x onerror=document.title=1&gt;.fatbin" in got, "a file's name is text", re.findall("<title>.*?</title>", got))
check(not requests, "no request leaves", requests)

# Sorting and searching: a script of this check, allowed by its hash, clicks.
drive = """
const column = (n) => Array.from(document.querySelectorAll("#matrix tbody tr"), (r) => r.cells[n].textContent.trim());
const head = (n) => document.querySelectorAll("#matrix thead th")[n];
const result = {};
head(0).querySelector("button").click(); result.up = column(0);
head(0).querySelector("button").click(); result.down = column(0);
head(3).querySelector("button").click(); result.verdicts = column(3); result.sorted = head(3).getAttribute("aria-sort");
const box = document.getElementById("search");
box.value = "SASS86 none"; box.dispatchEvent(new Event("input"));
result.found = Array.from(document.querySelectorAll("#matrix tbody tr:not([hidden])"), (r) => r.cells[0].textContent.trim());
result.says = document.getElementById("found").textContent;
document.getElementById("all").click(); result.open = document.querySelectorAll("details.file[open]").length;
document.title = JSON.stringify(result);
"""
driven = page.replace("script-src ", "script-src " + source(drive) + " ").replace("</body>", "<script>" + drive + "</script></body>")
got, _ = dom("driven.html", driven)
title = html.unescape(re.search("<title>(.*?)</title>", got, re.S).group(1))
try:
    result = json.loads(title)
except ValueError:
    check(False, "the clicks ran", title)
    result = {}
files = ["site/" + n for n in ("<img src=x onerror=document.title=1>.fatbin", "mixed.so", "multi12.so", "pe.dll", "sass86.so")]
check(result.get("up") == files and result.get("down") == files[::-1], "a click sorts, a second one turns it round", result)
# GTX 1080 is 6.1: multi12.so alone has code for it.
check(result.get("verdicts", [])[:1] == ["● native"] and result.get("verdicts", [])[-1:] == ["✗ none"] and result.get("sorted") == "ascending", "verdicts sort from the best to the worst", result)
check(result.get("found") == ["site/sass86.so"] and result.get("says") == "1 of 5 files", "the search finds by name and verdict", result)
check(result.get("open") == 5, "all files open at once", result)

# Markup that should not be there does nothing, and without the policy it does.
evil = '<img src="http://leak.test/img"><link rel="stylesheet" href="http://leak.test/css"><script>document.title = "ran"</script><script src="http://leak.test/js"></script><b onclick="0" id="e"></b>'
with_policy, requests = dom("evil.html", page.replace("<main>", evil + "<main>"))
check(not requests and "<title>ran</title>" not in with_policy, "the policy stops what slips in", requests)
without, requests = dom("control.html", re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page).replace("<main>", evil + "<main>"))
check(len(requests) == 3 and "<title>ran</title>" in without, "without the policy it would not be stopped", requests)
sys.exit(1 if failed else 0)
