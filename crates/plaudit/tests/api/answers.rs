//! Every operation, answered whole: once well and, where there is a way, once with an error, in both formats. What each
//! answers stands in a file of `answers/`, and `INSTA_UPDATE=always cargo xtask check answers` writes these again.

use std::collections::BTreeSet;
use std::path::PathBuf;

use http_body_util::BodyExt;
use kernel::ids::Ids;

use crate::both_engines;
use crate::harness::check::{FORMATS, comparable_headers};
use crate::harness::described::{DOCUMENT, described_path};
use crate::harness::fixture::{account_a, of_account_a};
use crate::harness::{Answer, JSON, Server};
use crate::histories::{keep, put_back};
use crate::isolation::TRASHED;
use crate::links::RECORDS;

/// What the answers need and no other test has.
const MORE: &str = r#"{"kind":"role","slug":"RoleEntr","name":{"en_GB":"Entrant"},"type":"entrant"}
{"kind":"field","slug":"FieldDel","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{"en_GB":"Gone"},"deleted":true}
{"kind":"field","slug":"FieldUsr","season":"SeasonAc","resource":"users","type":"file","title":{"en_GB":"Passport"}}
{"kind":"category","slug":"CategImg","season":"SeasonAc","form":"FormEntr","parent":"CategPar","name":{"en_GB":"Film"},"status":"active","images":["TokenOfTheLogoFileOfAllX"]}
{"kind":"user","slug":"UserFull","first_name":"Ada","last_name":"King","email":"ada@example.org","roles":["RoleJury"],"user_fields":{"FieldUsr":"TokenOfTheLogoFileOfAllX"},"preferences":{"theme":"dark"}}
{"kind":"criterion","slug":"CritCraf","score_set":"ScoreSet","name":{"en_GB":"Craft","de_DE":"Handwerk"},"maximum":10,"weight":3}
{"kind":"score_set","slug":"ScoreQua","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"First look"},"mode":"qualifying"}
{"kind":"score_set","slug":"ScoreAna","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Final"},"mode":"vip_judging"}
{"kind":"criterion","slug":"CritAnal","score_set":"ScoreAna","name":{"en_GB":"Craft"},"maximum":10}
{"kind":"assignment","entry":"EntryOne","judge":"UserJudg","score_set":"ScoreAna","created":"2025-05-01T10:00:00.000000Z","updated":"2025-05-01T10:00:00.000000Z","scores":[{"criterion":"CritAnal","value":6}]}
{"kind":"assignment","entry":"EntryOne","judge":"UserFull","score_set":"ScoreAna","created":"2025-05-01T10:00:00.000000Z","updated":"2025-05-01T10:00:00.000000Z","scores":[{"criterion":"CritAnal","value":9}]}
{"kind":"assignment","entry":"EntryTwo","judge":"UserJudg","score_set":"ScoreAna","created":"2025-05-01T10:00:00.000000Z","updated":"2025-05-01T10:00:00.000000Z","scores":[{"criterion":"CritAnal","value":5}]}
{"kind":"assignment","entry":"EntryTwo","judge":"UserFull","score_set":"ScoreAna","created":"2025-05-01T10:00:00.000000Z","updated":"2025-05-01T10:00:00.000000Z","scores":[{"criterion":"CritAnal","value":6}]}
{"kind":"casting_vote","slug":"CastVote","score_set":"ScoreAna","entries":["EntryOne","EntryTwo"],"reason":"The first is bolder.","created":"2025-06-03T10:00:00.000000Z","updated":"2025-06-03T10:00:00.000000Z"}
{"kind":"lot","slug":"LotOneAA","score_set":"ScoreAna","numbers":[9,18,26],"source":"Lottery of 1 June","entries":["EntryTwo","EntryOne"],"created":"2025-06-03T10:00:00.000000Z","updated":"2025-06-03T10:00:00.000000Z"}
{"kind":"assignment","entry":"EntryOne","judge":"UserJudg","score_set":"ScoreSet","panels":["PanelOne"],"rounds":["RoundJud"],"created":"2025-06-01T10:00:00.000000Z","updated":"2025-06-03T10:00:00.000000Z","scores":[{"criterion":"CritCraf","value":7,"comment":{"slug":"CommentA","comment":"Fine work.","user":"UserJudg","created_at":"2025-06-03T10:00:00.000000Z","updated_at":"2025-06-03T10:00:00.000000Z"}}]}
{"kind":"assignment","entry":"EntryOne","judge":"UserJudg","score_set":"ScoreQua","decision":"pass","comment":{"slug":"CommentB","comment":"Yes.","user":"UserJudg","created_at":"2025-06-03T10:00:00.000000Z","updated_at":"2025-06-03T10:00:00.000000Z"},"created":"2025-06-01T10:00:00.000000Z","updated":"2025-06-02T10:00:00.000000Z"}
{"kind":"assignment","entry":"EntryOne","role":"RoleJury","score_set":"ScoreSet","created":"2025-06-01T10:00:00.000000Z","updated":"2025-06-01T10:00:00.000000Z"}
{"kind":"assignment","entry":"EntryTwo","judge":"UserJudg","score_set":"ScoreSet","method":"automatic","cause":"automatic","panels":["PanelOne"],"created":"2025-06-01T10:00:00.000000Z","updated":"2025-06-01T10:00:00.000000Z"}
{"kind":"webhook","slug":"HookOneA","events":["entry_submitted"],"form":"FormEntr","fields":["FieldTxt"],"method":"post","name":"CRM","signing_key":"OldKey12","url":"https://crm.example.org/hook","headers":{"X-Team":"awards"}}
{"kind":"review_task","token":"TokenOfTheReviewThatEnded","review_stage":"StageOne","entry":"EntryTwo","reviewer":[{"name":"Ada","email":"ada@example.org"}],"decision":"proceed","action_at":"2025-06-05T10:00:00.000000Z","created":"2025-06-04T10:00:00.000000Z","updated":"2025-06-05T10:00:00.000000Z"}
{"kind":"review_task","token":"TokenOfTheReviewThatWaits","review_stage":"StageOne","entry":"EntryOne","reviewer":[{"name":"Ada","email":"ada@example.org"}],"created":"2025-06-04T10:00:00.000000Z","updated":"2025-06-04T10:00:00.000000Z"}
{"kind":"document_template","slug":"TemplAAA","name":{"en_GB":"Certificate"},"resource":"entry","file_types":["PDF"],"layout":"certificate"}
{"kind":"document","slug":"DocuEntr","name":{"en_GB":"Certificate","de_DE":"Urkunde"},"description":{"en_GB":"First place"},"file":"TokenOfTheLogoFileOfAllX","file_type":"PDF","filename":"certificate.pdf","entry":"EntryOne","recipient":"UserEntr","shared_with_user":true,"created_at":"2025-07-02T10:00:00.000000Z","updated":"2025-07-02T10:00:00.000000Z"}
{"kind":"document","slug":"DocuUser","name":{"en_GB":"Thanks"},"file":"TokenOfTheLogoFileOfAllX","file_type":"Word","filename":"thanks.docx","user":"UserJudg","created_at":"2025-07-01T10:00:00.000000Z","updated":"2025-07-01T10:00:00.000000Z"}
{"kind":"publication","slug":"PubliOne","score_set":"ScoreAna","published":"2025-07-01T10:00:00.000000Z","embargo_until":null,"feedback":true,"head":{"hash":"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b","sequence":40},"bundle":"{\"bundle\":{\"account\":\"AccountA\",\"form\":1,\"head\":{\"hash\":\"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b\",\"sequence\":40},\"inputs\":{\"criteria\":[{\"maximum\":\"10\",\"minimum\":\"0\",\"order\":0,\"slug\":\"CritAnal\",\"step\":\"1\",\"weight\":1}],\"entries\":[{\"sheets\":[{\"judge\":\"UserFull\",\"scores\":{\"CritAnal\":\"9\"}},{\"judge\":\"UserJudg\",\"scores\":{\"CritAnal\":\"6\"}}],\"slug\":\"EntryOne\"},{\"sheets\":[{\"judge\":\"UserFull\",\"scores\":{\"CritAnal\":\"6\"}},{\"judge\":\"UserJudg\",\"scores\":{\"CritAnal\":\"5\"}}],\"slug\":\"EntryTwo\"}],\"score_set\":{\"min_judges\":1,\"mode\":\"vip_judging\",\"places\":\"competition\",\"rules\":{\"aggregation\":\"sum\",\"min_kept\":1,\"sheets\":\"complete_only\",\"trim\":\"0\"},\"slug\":\"ScoreAna\",\"tie_break\":[]}},\"results\":[{\"entry\":\"EntryOne\",\"rank\":1,\"score\":\"15/2\",\"sheets\":2,\"tie_steps\":[],\"totals\":{\"criteria\":{\"CritAnal\":{\"sheets\":2,\"sum\":\"15\"}},\"sum\":\"15\"}},{\"entry\":\"EntryTwo\",\"rank\":2,\"score\":\"11/2\",\"sheets\":2,\"tie_steps\":[],\"totals\":{\"criteria\":{\"CritAnal\":{\"sheets\":2,\"sum\":\"11\"}},\"sum\":\"11\"}}]},\"signature\":{\"algorithm\":\"Ed25519\",\"public_key\":\"0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c\",\"value\":\"0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d\"}}"}"#;

/// A line for each operation: a request that goes well, and behind each ` | ` a query, body or path (and body) that makes it
/// go another way.
const CALLS: &str = r#"
GET /account
GET /assignment | ?state=gone&slug=short
GET /assignment/EntryOneUserJudgScoreSetJ | /assignment/EntryOneNoSuchUsScoreSetJ
POST /assignment {"score_set":"ScoreQua","entry":"EntryTwo","judge":"UserJudg","rounds":["RoundJud"]} | {"score_set":"ScoreQua","entries":["EntryOne","EntryTwo"],"judges":["UserJudg"],"rounds":["RoundJud"]} | {"score_set":"NoSuchSc","entry":"NoSuchEn","judge":"UserEntr","rounds":[]}
DELETE /assignment/EntryOneUserJudgScoreQuaJ | /assignment/EntryTwoUserJudgScoreSetJ
PUT /assignment/EntryOneUserJudgScoreSetJ/score {"criteria":{"CritCraf":9},"comments":{"CritCraf":"Better than fine."},"comment":"A pleasure."} | {"criteria":{"CritCraf":11,"NoSuchCr":1}} | /assignment/EntryOneRoleJuryScoreSetR/score
PUT /assignment/EntryOneUserJudgScoreSetJ/abstain {"reason":"I know the author."} | {"reason":5}
POST /assignment/EntryOneUserJudgScoreSetJ/conflict {"comment":"My brother."} | {"comment":""}
POST /assignment/EntryOneUserJudgScoreSetJ/reopen {"reason":"A second look."} | /assignment/EntryTwoUserJudgScoreSetJ/reopen
GET /assignment/progress?score_set=ScoreSet | ?score_set=short
GET /leaderboard/analysis?score_set=ScoreAna | ?score_set=ScoreSet | ?tag=blue
GET /leaderboard?score_set=ScoreSet | ?score_set=NoSuchSc | ?status=submitted
POST /assignment/plan {"score_set":"ScoreQua","entries":["EntryTwo"],"judges":["UserJudg"],"per_entry":1,"method":"random"} | {"score_set":"ScoreQua","filter":{},"judges":["UserEntr"],"per_entry":0,"method":"best"}
GET /assignment/plan/PlanAAAA | /assignment/plan/NoSuchPl
POST /assignment/apply {"plan":"PlanAAAA"} | {"plan":"NoSuchPl"}
POST /assignment/undo {"undo":"UndoAAAA"} | {"undo":"NoSuchPl"}
POST /leaderboard/advance {"score_set":"ScoreAna","places":1,"tag":"final"} | {"score_set":"ScoreAna","share":50,"by":"category","ties":"ask","tag":"final","dry_run":true} | {"score_set":"NoSuchSc","places":1,"min_score":5,"by":"season","tag":"a,b","wanted":1}
GET /leaderboard/casting-vote?score_set=ScoreAna | ?score_set=ScoreSet | ?tag=blue
PUT /leaderboard/casting-vote {"score_set":"ScoreAna","entries":["EntryTwo","EntryOne"],"reason":"The bolder one."} | {"score_set":"ScoreAna","entries":["NoSuchEn"],"reason":""}
DELETE /leaderboard/casting-vote?score_set=ScoreAna | ?score_set=ScoreSet | ?tag=blue
GET /leaderboard/lot?score_set=ScoreAna | ?score_set=ScoreSet | ?tag=blue
PUT /leaderboard/lot {"score_set":"ScoreAna","numbers":[26,9,34],"source":"Lottery of 1 June"} | {"score_set":"NoSuchSc","numbers":[],"source":""}
GET /leaderboard/publication?score_set=ScoreAna | ?colour=red
GET /leaderboard/publication/PubliOne | /leaderboard/publication/NoSuchPu
GET /leaderboard/publication/PubliOne/bundle | /leaderboard/publication/NoSuchPu/bundle
POST /leaderboard/publish {"score_set":"ScoreAna","embargo_until":"2026-12-01T18:00:00Z","feedback":true} | {"score_set":"NoSuchSc","until":"noon"}
DELETE /leaderboard/publication/PubliOne | /leaderboard/publication/NoSuchPu
POST /assignment/reassign {"judge":"UserJudg","score_set":"ScoreSet"} | {"judge":"NoSuchUs"}
PUT /entry/EntryOne/recuse {"judge":"UserJudg","score_set":"ScoreSet"} | {"score_set":"NoSuchSc"}
PUT /entry/EntryOne/unrecuse {"judge":"UserJudg"} | {"judge":"NoSuchUs"}
POST /document {"translated":{"name":{"en_GB":"Certificate"}},"template":"TemplAAA","fileType":"PDF","shared":true,"resource":"entry","selected":["EntryOne"]} | {"translated":{"name":{}},"template":"NoSuchTe","fileType":"RTF","shared":1,"resource":"entry","selected":["NoSuchEn"],"notification":true}
GET /document?per_page=1 | ?colour=red
GET /document/DocuEntr | /document/NoSuchDo
DELETE /document/DocuUser | /document/NoSuchDo
GET /attachment | ?colour=red
GET /attachment/TokenOfTheFirstFileOfAll | /attachment/TokenOfNothingAtAllThere
PUT /attachment/TokenOfTheFirstFileOfAll {"order":2,"attachment_fields":{"FieldAtt":"Another caption"}} | {"attachment_fields":{"FieldTxt":"x"}}
PUT /attachment/TokenOfTheFirstFileOfAll/update-field/FieldAtt {"value":"Another caption"} | {"value":1}
DELETE /attachment/TokenOfTheFirstFileOfAll | /attachment/TokenOfNothingAtAllThere
GET /category?per_page=2 | ?status=open
GET /category/CategImg?include=settings | /category/NoSuchCa
POST /category {"season":"SeasonAc","status":"active","translated":{"name":{"en_GB":"Books","de_DE":"Bücher"}},"chapters":["ChapterN"],"parent":"CategPar"} | {"status":"open","translated":{"name":{}},"promoted":2,"color":"red"}
PUT /category/CategImg {"status":"inactive","divisions":2} | {"parent":"CategImg","season":"SeasonAc"}
DELETE /category/CategPar | /category/NoSuchCa
POST /category/CategChi/upload {"filename":"a.gif","data":"R0lGODlhBQAHAA=="} | {"filename":"a.gif","data":"aGVsbG8="}
GET /chapter?order=name | ?deleted=all
GET /chapter/ChapterN?include=settings | /chapter/NoSuchCh
POST /chapter {"season":"SeasonAc","status":"active","translated":{"name":{"en_GB":"East"}},"managers":["UserMana"]} | {"translated":{"image_heading":5},"managers":["NoSuchUs"]}
PUT /chapter/ChapterN {"status":"inactive","translated":{"name":{"en_GB":"Far north"}},"managers":[]} | {"status":"open","max_image_width":0} | /chapter/NoSuchCh
DELETE /chapter/ChapterS | /chapter/NoSuchCh
POST /chapter/ChapterN/upload {"filename":"a.gif","data":"R0lGODlhBQAHAA=="} | {"filename":""}
GET /content-block/BlockOne | /content-block/NoSuchBl
GET /contributor | ?status=new
GET /contributor/Contribu | /contributor/NoSuchCo
POST /contributor {"entry":"EntryTwo","tab":"TabContr","fields":{"FieldCtr":"Editor"}} | {"entry":"NoSuchEn","fields":{"FieldTxt":"x"}}
PUT /contributor/Contribu {"fields":{"FieldCtr":"Editor"}} | {"entry":"EntryTwo"}
PUT /contributor/Contribu/update-field/FieldCtr {"value":"Editor"} | /contributor/Contribu/update-field/NoSuchFi
DELETE /contributor/Contribu | /contributor/NoSuchCo
GET /entry?per_page=1&include=attachments | ?status=invited
GET /entry/EntryOne | /entry/NoSuchEn
POST /entry {"category":"CategChi","entrant":"UserEntr","season":"SeasonAc","title":"New","chapter":"ChapterS","entry_fields":{"FieldTxt":"Text","FieldRad":"no"}} | {"category":"NoSuchCa","title":"","entry_fields":{"FieldRad":"maybe"}}
PUT /entry/EntryTwo {"status":"submitted","custom_deadline":"2026-10-25 01:30","moderation_status":"approved","grant_status":"granted","grant_end_date":"2027-01-01"} | {"status":"resubmitted"}
DELETE /entry/EntryTwo | /entry/NoSuchEn
POST /entry/EntryDel/restore | /entry/EntryOne/restore
POST /entry/EntryOne/copy | /entry/NoSuchEn/copy
POST /entry/EntryOne/upload/FieldFil {"filename":"a.gif","data":"R0lGODlhBQAHAA=="} | /entry/EntryOne/upload/FieldTxt
POST /entry/EntryTwo/attachment/TabAttac {"filename":"a.txt","data":"aGVsbG8=","order":1,"attachment_fields":{"FieldAtt":"Notes"}} | {"filename":"a.txt","data":"aGVsbG8"}
PUT /entry/EntryOne/tag/green,red | /entry/NoSuchEn/tag/green
DELETE /entry/EntryOne/tag/blue | /entry/NoSuchEn/tag/blue
GET /entry/summary | ?season=x
GET /entry/stream
GET /entry/EntryOne/stream | /entry/NoSuchEn/stream
PUT /entry/EntryOne/update-title {"title":"A title"} | {"title":""}
PUT /entry/EntryOne/update-field/FieldTab {"value":{"A2":"","B2":"3"}} | {"value":{"C1":"x"}}
PUT /entry/EntryOne/update-category {"category":"CategImg"} | {"category":"CategOld"}
PUT /entry/EntryOne/update-chapter {"chapter":"ChapterS"} | {"chapter":"ChapterW"} | /entry/EntryOld/update-chapter {"chapter":"ChapterP"} | /entry/NoSuchEn/update-chapter
GET /event?per_page=2&slug=EntryOne | ?kind=events&wait=31
GET /field?per_page=2&resource=entries | ?type=number
GET /field/FieldCon?include=settings | /field/FieldDel
POST /field {"type":"radio","tab":"TabGener","translated":{"title":{"en_GB":"Size"}},"options":["small","large"],"required":true} | {"type":"radio","tab":"NoSuchTa","translated":{}}
PUT /field/FieldTxt {"translated":{"help_text":{"en_GB":"At most a page."}},"limits":{"maximum_words":500}} | {"type":"url","options":["a"]}
DELETE /field/FieldTxt | /field/FieldRad | /field/NoSuchFi
POST /field/FieldDel/restore | /field/FieldTxt/restore
GET /file/TokenOfTheFirstFileOfAll | /file/TokenOfNothingAtAllThere
GET /form | ?form_type=order
GET /form/FormBloc | /form/NoSuchFo
GET /job?per_page=1 | ?state=waiting
GET /job/JobHalfD | /job/NoSuchJo
DELETE /job/JobHalfD | /job/JobEnded
GET /order?page=2&per_page=1 | ?per_page=0&status=unpaid
GET /order/OrderOne | /order/NoSuchOr
GET /order/OrderOne/items?per_page=1 | ?status=paid&per_page=0 | /order/NoSuchOr/items
PUT /order/OrderTwo {"company":"Acme","payment_status":"paid","note":"By cheque."} | {"company":1,"total":3} | /order/NoSuchOr {"city":"Ulm"}
POST /order/OrderTwo/payment {"provider":"bank","reference":"A 1","status":"pending","amount":500,"date":"2026-01-30T10:00:00Z"} | {"provider":"manual","status":"paid","amount":0.5}
POST /order/quote {"entries":["EntryTwo"],"country":"GB"} | {"entries":["NobodyAA"],"country":"Ulm","color":1}
POST /order {"entries":["EntryTwo"],"test":true} | {} | {"entries":["EntryOne"]}
POST /order/OrderTwo/refund {"amount":1,"reason":"Too much."} | {"amount":0} | /order/NoSuchOr/refund {"amount":1,"reason":"A"}
DELETE /order/OrderTwo | /order/OrderOne | /order/NoSuchOr
GET /panel/PanelOne | /panel/NoSuchPa
GET /price/PriceStd | /price/NoSuchPr
GET /review-stage/StageOne | /review-stage/NoSuchSt
GET /review-task?per_page=1 | ?decision=maybe&colour=red
GET /review-task/TokenOfTheReviewThatEnded | /review-task/TokenOfNothingAtAllThere
POST /review-task {"review_stage":"StageOne","entry":"EntryTwo"} | {"entry":"NoSuchEn","stage":"StageOne"}
PUT /review-task/TokenOfTheReviewThatWaits/decision {"decision":"stop","comment":"Not yet."} | {"decision":"maybe"} | /review-task/TokenOfTheReviewThatEnded/decision {"decision":"stop"}
DELETE /review-task/TokenOfTheReviewThatWaits | /review-task/TokenOfNothingAtAllThere
GET /role/RoleJury | /role/NoSuchRo
GET /round | ?type=final
GET /round/RoundJud | /round/NoSuchRo
GET /score-set | ?mode=raffle
GET /score-set/ScoreSet | /score-set/NoSuchSc
GET /season | ?season=all
GET /season/SeasonOl | /season/NoSuchSe
GET /tax | ?page=3 | ?dir=up
GET /tax/TaxVatGB | /tax/NoSuchTx
GET /user?per_page=2 | ?role=judge
GET /user/UserFull | /user/NoSuchUs
POST /user {"first_name":"Grace","last_name":"Hopper","email":"grace2@example.org","password":"correct horse"} | {"first_name":"","email":"mara@example.org","password":"short"} | {"first_name":"Berta","last_name":"Braun","email":"berta@example.org","password":"correct horse"}
PUT /user/UserEntr {"last_name":"Neil","mobile":"+441632960007","language":"de_DE","roles":["RoleEntr","RoleJury"]} | {"mobile":"12","language":"fr_FR"}
DELETE /user/UserFull | /user/NoSuchUs
POST /user/UserGone/restore | /user/UserEntr/restore
POST /user/UserFull/erase | /user/NoSuchUs/erase
GET /user/UserEntr/auth-token | /user/NoSuchUs/auth-token
GET /webhook | ?subscription_event=entry_gone
GET /webhook/HookOneA | /webhook/NoSuchHo
POST /webhook {"method":"get","name":"New","url":"https://hooks.example.org","events":["entry_created"]} | {"method":"put","url":"ftp://example.org","headers":{"Host":"x"}}
PUT /webhook/HookOneA {"signing_key":null,"status":"disabled"} | {"events":["user_updated"]}
DELETE /webhook/HookOneA | /webhook/NoSuchHo
GET /webhook/HookOneA/delivery?per_page=1 | ?state=gone&after=now | /webhook/NoSuchHo/delivery
GET /webhook/HookOneA/delivery/msg_12_0_9f86d081884c | /webhook/HookOneA/delivery/msg_12_0_9f86d081884d
POST /webhook/HookOneA/delivery/msg_12_0_9f86d081884c/replay | /webhook/HookOneA/delivery/msg_12/replay
POST /webhook/HookOneA/replay {"after":"2026-01-30T00:00:00Z","before":"2026-01-31T00:00:00Z"} | {"after":"2026-01-31T00:00:00Z","before":"2026-01-30T00:00:00Z","events":["gone"]}
POST /webhook/HookOneA/test {"event":"entry_submitted"} | {"event":"gone"}
POST /user/UserFull/upload/FieldUsr {"filename":"a.gif","data":"R0lGODlhBQAHAA=="} | /user/UserFull/upload/FieldTxt
"#;

/// One operation, and the path and body of each request to it.
struct Call {
    method: &'static str,
    asks: Vec<(String, Option<&'static str>)>,
}

impl Call {
    fn all() -> impl Iterator<Item = Self> {
        CALLS.trim().lines().map(Self::read)
    }

    fn read(line: &'static str) -> Self {
        let mut parts = line.split(" | ");
        let mut words = parts.next().unwrap().splitn(3, ' ');
        let (method, path, body) = (words.next().unwrap(), words.next().unwrap(), words.next());
        let other = |part: &'static str| match part.chars().next() {
            Some('{') => (path.to_owned(), Some(part)),
            Some('?') => (format!("{}{part}", path.split('?').next().unwrap()), body),
            _ => {
                let (path, body) = part.split_once(' ').map_or((part, body), |(path, body)| (path, Some(body)));
                (path.to_owned(), body)
            }
        };
        Self { method, asks: std::iter::once((path.to_owned(), body)).chain(parts.map(other)).collect() }
    }

    /// The name of its file.
    fn name(&self) -> String {
        let (path, _) = &self.asks[0];
        file_name(self.method, described_path(path.split('?').next().unwrap()).unwrap())
    }
}

fn file_name(method: &str, path: &str) -> String {
    format!("{}.{}", path[1..].replace('/', ".").replace(['{', '}'], ""), method.to_lowercase())
}

/// The beginning of a stream: its place and one change.
async fn begin_stream(server: &Server, path: &str, format: &str) -> Answer {
    let (parts, mut body) = server.open(server.request("GET", path, &[("accept", format)], None)).await.into_parts();
    let mut read = Vec::new();
    server.put("/entry/EntryOne/update-title", r#"{"title":"A title"}"#).await.expect(200);
    for _ in 0..2 {
        read.extend(body.frame().await.unwrap().unwrap().into_data().unwrap());
    }
    Answer { status: parts.status.as_u16(), headers: parts.headers, body: read }
}

fn break_line(lines: &mut String, depth: usize) {
    lines.push('\n');
    lines.extend(std::iter::repeat_n("  ", depth));
}

/// Compact JSON with a line for each member; every text and number is as it was sent.
fn indented_json(body: &str) -> String {
    let (mut lines, mut depth, mut is_text, mut last) = (String::new(), 0, false, '"');
    for next in body.chars() {
        let is_empty = matches!((last, next), ('{', '}') | ('[', ']'));
        if !is_text && "}]".contains(next) {
            depth -= 1;
            if !is_empty {
                break_line(&mut lines, depth);
            }
        } else if !is_text && "{[,".contains(last) {
            break_line(&mut lines, depth);
        }
        lines.push(next);
        match next {
            '"' if !(is_text && last == '\\') => is_text = !is_text,
            '{' | '[' if !is_text => depth += 1,
            ':' if !is_text => lines.push(' '),
            _ => {}
        }
        // A backslash that is written by two does not take the quotation mark behind it.
        last = if is_text && last == '\\' { ' ' } else { next };
    }
    lines
}

/// XML with a line for each element that has no other in it.
fn indented_xml(body: &str) -> String {
    let (mut lines, mut depth, mut has_opened) = (String::new(), 0, false);
    for part in body.replace("><", ">\0<").split('\0') {
        let closes = part.starts_with("</");
        depth -= usize::from(closes);
        // An element with nothing in it keeps its end beside it.
        if !(lines.is_empty() || closes && has_opened) {
            break_line(&mut lines, depth);
        }
        lines.push_str(part);
        has_opened = !part.contains("</") && !part.ends_with("/>") && !part.starts_with("<?");
        depth += usize::from(has_opened);
    }
    lines
}

/// What was asked and what was answered.
fn shown(server: &Server, asked: &str, answer: &Answer, format: &str) -> String {
    let mut lines = format!("{asked}\n\n{}\n", answer.status);
    for (name, value) in comparable_headers(answer).into_iter().filter(|(name, _)| !name.starts_with("x-ratelimit-")) {
        // A tag depends on the version of the program, which every release changes: of a record it stands there by itself,
        // of a page it is hashed with all the rest.
        let hash = value.get(1..33).filter(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let value = value.replace(hash.unwrap_or(server.app.edition.trim_end_matches('.')), "MASKED");
        lines.push_str(&format!("{name}: {value}\n"));
    }
    let indented = |body: &str| if format == JSON { indented_json(body) } else { indented_xml(body) };
    let of_stream = |line: &str| match line.strip_prefix("data: ") {
        Some(data) => format!("data: {}", indented(data)),
        None => line.to_owned(),
    };
    let body = match answer.text() {
        "" => return lines,
        text if answer.header("content-type") == Some(format) => indented(text),
        text => text.lines().map(of_stream).collect::<Vec<_>>().join("\n"),
    };
    lines + "\n" + &body + "\n"
}

both_engines! {
    async fn every_operation_answers_as_its_snapshot_says(server) {
        let mut server = server;
        server.import(&of_account_a(&[RECORDS, TRASHED, MORE].join("\n"))).await;
        server.import(&account_a(r#","features":["api"],"rate_limit":1000000,"owner":"UserMana""#)).await;
        crate::jobs::put(&server).await;
        crate::assignment_plans::put(&server).await;
        crate::deliveries::put(&server).await;
        keep(&server).await;
        for call in Call::all() {
            let mut shown_of_all = Vec::new();
            for format in FORMATS {
                for (path, body) in &call.asks {
                    // Each request finds the same records, and its answer makes the same slugs.
                    put_back(&server).await;
                    server.ids = Ids::seeded(1);
                    server = server.restart().await;
                    let answer = if path.ends_with("/stream") && !path.contains("NoSuch") {
                        begin_stream(&server, path, format).await
                    } else {
                        server.send(server.request(call.method, path, &[("accept", format)], *body)).await
                    };
                    let body = body.map_or_else(String::new, |body| format!("\n{body}"));
                    let asked = format!("{} {path}\naccept: {format}{body}", call.method);
                    shown_of_all.push(shown(&server, &asked, &answer, format));
                }
            }
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path("answers");
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.bind(|| insta::assert_snapshot!(call.name(), shown_of_all.join("\n\n")));
        }
    }
}

#[test]
fn every_operation_of_the_document_has_a_snapshot_in_both_formats() {
    let paths = DOCUMENT["paths"].as_object().unwrap().iter();
    let operations =
        paths.flat_map(|(path, item)| item.as_object().unwrap().keys().map(move |verb| file_name(verb, path)));
    let operations: BTreeSet<String> = operations.collect();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/api/answers")).unwrap();
    let has_both = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        FORMATS.iter().all(|format| text.contains(&format!("\naccept: {format}\n")))
    };
    let paths = files.map(|file| file.unwrap().path()).filter(has_both);
    let snapshots = paths.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    for (what, names) in
        [("call", Call::all().map(|call| call.name()).collect()), ("snapshot in both formats", snapshots)]
    {
        let odd: Vec<_> = operations.symmetric_difference(&names).collect();
        assert!(odd.is_empty(), "an operation without a {what}, or a {what} of none: {odd:?}");
    }
}
